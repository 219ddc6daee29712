import { kafkaSettings, whole } from '@vigil/chassis';
import { z } from 'zod';

/** The ways to people that exist. */
export const sinkNames = ['console'] as const;

const sinks = z
  .string()
  .default('console')
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.array(z.enum(sinkNames, { error: `give a comma-separated list of ${sinkNames.join(', ')}` })));

/** Group wait and repeat are milliseconds; 0: sinks are told at once. */
export const config = z.object({
  ...kafkaSettings,
  VIGIL_ALERT_SINKS: sinks,
  VIGIL_ALERT_GROUP_WAIT_MS: whole(0, 3_600_000).default(30_000),
  VIGIL_ALERT_REPEAT_MS: whole(60_000, 604_800_000).default(14_400_000),
});
