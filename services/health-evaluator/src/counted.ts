import type { Count } from '@vigil/chassis';
import type { Draft, WarrantFiledPayload } from '@vigil/events';

/** The axis of a warrant: `regex` and `progress_mismatch` as omniclaude names them, else the axis of its first signal. */
export const axisOf = ({ evidence }: Pick<WarrantFiledPayload, 'evidence'>) => {
  if (evidence.some(({ matched }) => matched !== null)) return 'regex';
  if (evidence.some(({ signal }) => signal === 'progress_mismatch')) return 'progress_mismatch';
  return evidence[0]?.axis ?? 'none';
};

/** Counts what the evaluator has decided. A renewed warrant and the end of a drift do not count. */
export const countDecided =
  (count: Count) =>
  (drafts: readonly Draft[]): void => {
    for (const { type, payload } of drafts) {
      if (type === 'HEALTH_STATE_CHANGED') count('state_transitions', 1, { from: payload.from, to: payload.to });
      if (type === 'WARRANT_FILED') count('warrants', 1, { axis: axisOf(payload) });
      if (type === 'CLOCK_DRIFTED') count('clock_drifts', 1, { direction: payload.driftMs > 0 ? 'behind' : 'ahead' });
      if (type === 'AGENT_SPENT') {
        count('spent_tokens', payload.tokens, { scope: payload.scope });
        if (payload.usd !== null) count('spent_usd', payload.usd, { scope: payload.scope });
      }
    }
  };
