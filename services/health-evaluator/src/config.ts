import { logSettings, whole } from '@vigil/chassis';
import type { Requestable } from '@vigil/policy';
import { z } from 'zod';

export const config = logSettings({
  /** a directory of policies besides the presets; one of a preset's name replaces it */
  VIGIL_POLICY_DIR: z.string('give a directory of *.yaml policies, or leave it out').optional(),
  /** without assign.yaml: the policies that agents may request, with commas between, or any */
  VIGIL_REQUESTABLE_POLICIES: z
    .string()
    .default('')
    .transform(
      (text): Requestable =>
        text === 'any'
          ? 'any'
          : text
              .split(',')
              .map((name) => name.trim())
              .filter(Boolean),
    ),
  /** without assign.yaml: for agents that request none of those */
  VIGIL_DEFAULT_POLICY: z.string().default('vigil'),
  /** the agents of one partition; more are refused, so that no sender can exhaust the memory */
  VIGIL_AGENTS_PER_PARTITION: whole(1, 10_000_000).default(10_000),
});
