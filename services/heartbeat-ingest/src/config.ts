import { logSettings, proofKey } from '@vigil/chassis';
import { type CheckProof, proofCheck } from '@vigil/events';
import type { z } from 'zod';

/** Variables of the service. */
export const config = logSettings({
  VIGIL_PROOF_KEY: proofKey.optional(),
  VIGIL_PROOF_KEY_PREVIOUS: proofKey.optional().meta({
    description: 'The earlier key of proofs, which also verifies heartbeats while the key changes.',
  }),
});

type Config = z.output<typeof config>;

/** The check of a heartbeat's proof by the present and the previous key; null without a key: nothing is verified. */
export const proofCheckFrom = ({
  VIGIL_PROOF_KEY: current,
  VIGIL_PROOF_KEY_PREVIOUS: previous,
}: Config): CheckProof | null => {
  const keys = [current, previous].filter((key) => key !== undefined);
  return keys.length === 0 ? null : proofCheck(keys);
};
