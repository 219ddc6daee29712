import { kafkaSettings } from '@vigil/chassis';
import { z } from 'zod';

export const config = z.object({
  ...kafkaSettings,
  /** a directory of policies besides the presets; one of a preset's name replaces it */
  VIGIL_POLICY_DIR: z.string('give a directory of *.yaml policies, or leave it out').optional(),
  /** for agents that request no loaded policy */
  VIGIL_DEFAULT_POLICY: z.string().default('vigil'),
});
