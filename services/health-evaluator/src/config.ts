import { defaultPolicy, logSettings, whole } from '@vigil/chassis';
import type { Requestable } from '@vigil/policy';
import { z } from 'zod';

export const config = logSettings({
  VIGIL_POLICY_DIR: z.string('give a directory of *.yaml policies, or leave it out').optional().meta({
    values: 'folder',
    description: 'Policies besides the presets, and `assign.yaml`; a policy with the name of a preset replaces it.',
  }),
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
    )
    .meta({
      values: '`any`, or names of policies with commas between',
      description: 'The policies that agents may request where there is no `assign.yaml`.',
    }),
  VIGIL_DEFAULT_POLICY: defaultPolicy,
  VIGIL_AGENTS_PER_PARTITION: whole(1, 10_000_000).default(10_000).meta({
    description: 'The most agents of one partition; more are refused, so that no sender can exhaust the memory.',
  }),
});
