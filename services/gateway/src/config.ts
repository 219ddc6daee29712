import { kafkaSettings, token, whole } from '@vigil/chassis';
import { LEAST_SECRET } from '@vigil/events/door-token';
import { z } from 'zod';

/** VIGIL_GATEWAY_PORT 0: any free port, which the log names. */
export const config = z.object({
  ...kafkaSettings,
  VIGIL_GATEWAY_HOST: z.string().default('127.0.0.1'),
  VIGIL_GATEWAY_PORT: whole(0, 65535).default(7410),
  VIGIL_GATEWAY_TOKEN: token('give the secret that runtimes and agents show the gateway'),
  VIGIL_GATEWAY_SECRET: z
    .string()
    .min(
      LEAST_SECRET,
      `give the secret that tokens of a name are made from (at least ${LEAST_SECRET} characters), or leave it out`,
    )
    .optional(),
  VIGIL_DEFAULT_POLICY: z.string().default('vigil'),
});

export type Config = z.output<typeof config>;
