import { hostname } from 'node:os';
import { logSettings, proofKey, tlsSettings, token, whole } from '@vigil/chassis';
import { z } from 'zod';
import { LARGEST_BODY } from './http/body.ts';
import { LEAST_SECRET } from './http/token-signing.ts';

const secret = (what: string) =>
  z.string().min(LEAST_SECRET, `give ${what} (at least ${LEAST_SECRET} characters), or leave it out`).optional();

/** VIGIL_GATEWAY_PORT 0: any free port, which the log names. VIGIL_GATEWAY_NAME: what this instance is called among the others; a restart keeps it. */
export const config = logSettings({
  ...tlsSettings,
  VIGIL_GATEWAY_HOST: z.string().default('127.0.0.1'),
  VIGIL_GATEWAY_PORT: whole(0, 65535).default(7410),
  VIGIL_GATEWAY_NAME: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,100}$/, 'give each instance a name of its own: 1 to 100 of A-Z a-z 0-9 . _ -')
    .default(
      hostname()
        .replace(/[^A-Za-z0-9._-]/g, '-')
        .slice(0, 100) || 'gateway',
    ),
  VIGIL_GATEWAY_TOKEN: token('give the secret that runtimes and agents show the gateway'),
  VIGIL_GATEWAY_SECRET: secret('the secret that signs tokens of runtimes and agents'),
  VIGIL_GATEWAY_SECRET_PREVIOUS: secret('the secret that signed tokens before, which stay valid'),
  /** signs accepted heartbeats; ingest has the same. Without it they are marked as not verified */
  VIGIL_PROOF_KEY: proofKey.optional(),
  VIGIL_TOKEN_REQUESTS_PER_S: whole(1, 1_000_000).default(50),
  VIGIL_TOKEN_BYTES_PER_S: whole(LARGEST_BODY, 1_000_000_000).default(5 << 20),
  VIGIL_TOKEN_AGENTS: whole(1, 1_000_000).default(200),
  VIGIL_TOKEN_TASKS: whole(1, 1_000_000).default(200),
  VIGIL_DEFAULT_POLICY: z.string().default('vigil'),
});

export type Config = z.output<typeof config>;
