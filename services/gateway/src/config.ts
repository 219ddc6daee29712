import { hostname } from 'node:os';
import { defaultPolicy, logSettings, proofKey, tlsSettings, token, whole } from '@vigil/chassis';
import { z } from 'zod';
import { LARGEST_BODY } from './http/body.ts';
import { LEAST_SECRET } from './http/token-signing.ts';

const secret = (what: string) =>
  z
    .string()
    .min(LEAST_SECRET, `give ${what} (at least ${LEAST_SECRET} characters), or leave it out`)
    .optional()
    .meta({ values: `text, at least ${LEAST_SECRET} characters`, isSecret: true });

/** Variables of the service. */
export const config = logSettings({
  ...tlsSettings,
  VIGIL_GATEWAY_HOST: z
    .string()
    .default('127.0.0.1')
    .meta({ values: 'host', description: 'Where the gateway listens.' }),
  VIGIL_GATEWAY_PORT: whole(0, 65535)
    .default(7410)
    .meta({ description: 'The port of the gateway; 0 is any free port, which the log names.' }),
  VIGIL_GATEWAY_NAME: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,100}$/, 'give each instance a name of its own: 1 to 100 of A-Z a-z 0-9 . _ -')
    .default(
      hostname()
        .replace(/[^A-Za-z0-9._-]/g, '-')
        .slice(0, 100) || 'gateway',
    )
    .meta({
      values: '1 to 100 of `A-Z a-z 0-9 . _ -`',
      default: "the host's name",
      description: 'The name of this replica; each replica has its own, and a restart keeps it.',
    }),
  VIGIL_GATEWAY_TOKEN: token('give the secret that runtimes and agents show the gateway').meta({
    description: "The operator's token, which permits everything.",
  }),
  VIGIL_GATEWAY_SECRET: secret('the secret that signs tokens of runtimes and agents').meta({
    description: 'Signs the tokens of runtimes and agents, the same for every replica; without it no token is issued.',
  }),
  VIGIL_GATEWAY_SECRET_PREVIOUS: secret('the secret that signed tokens before, which stay valid').meta({
    description: 'The secret that signed tokens before; they stay valid while it is set.',
  }),
  VIGIL_PROOF_KEY: proofKey.optional(),
  VIGIL_TOKEN_REQUESTS_PER_S: whole(1, 1_000_000)
    .default(50)
    .meta({ unit: 'requests a second', description: 'The quota of one token at one replica.' }),
  VIGIL_TOKEN_BYTES_PER_S: whole(LARGEST_BODY, 1_000_000_000)
    .default(5 << 20)
    .meta({ unit: 'bytes a second', description: 'The quota of one token at one replica.' }),
  VIGIL_TOKEN_AGENTS: whole(1, 1_000_000)
    .default(200)
    .meta({ description: 'The agents that one token may report at one replica.' }),
  VIGIL_TOKEN_TASKS: whole(1, 1_000_000)
    .default(200)
    .meta({ description: 'The tasks that one token may report at one replica.' }),
  VIGIL_DEFAULT_POLICY: defaultPolicy,
});

export type Config = z.output<typeof config>;
