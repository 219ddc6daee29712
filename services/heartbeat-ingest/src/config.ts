import { kafkaSettings, proofKey } from '@vigil/chassis';
import { z } from 'zod';

/** VIGIL_PROOF_KEY: the gateway's. Without it no heartbeat is verified. VIGIL_PROOF_KEY_PREVIOUS: while the key changes. */
export const config = z.object({
  ...kafkaSettings,
  VIGIL_PROOF_KEY: proofKey.optional(),
  VIGIL_PROOF_KEY_PREVIOUS: proofKey.optional(),
});

export type Config = z.output<typeof config>;
