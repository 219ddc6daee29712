import { kafkaSettings, token, whole } from '@vigil/chassis';
import { z } from 'zod';

/** VIGIL_GATEWAY_PORT 0: any free port, which the log names. */
export const config = z.object({
  ...kafkaSettings,
  VIGIL_GATEWAY_HOST: z.string().default('127.0.0.1'),
  VIGIL_GATEWAY_PORT: whole(0, 65535).default(7410),
  VIGIL_GATEWAY_TOKEN: token('give the secret that runtimes and agents show the gateway'),
  VIGIL_DEFAULT_POLICY: z.string().default('vigil'),
});

export type Config = z.output<typeof config>;
