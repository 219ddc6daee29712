import { type EventOf, Topic } from '@vigil/events';
import { type CaseDraft, type CaseState, unknownLife } from './state.ts';

type Asked = Extract<EventOf<typeof Topic.agentHealth>, { readonly type: 'BREAKER_RESET_ASKED' }>;

/** How long it is worth doing: the caller that does not ask for orders until then reports anew anyway. Milliseconds. */
const TTL_MS = 60_000;

/** To close a breaker harms nobody: neither a case nor a ruling stands before it. */
export const resetOrder = (
  { agentId, life }: CaseState,
  { payload: { name, taskId }, eventId, correlationId, policy }: Asked,
): CaseDraft => {
  const { instanceId, runtimeId, number } = life ?? unknownLife;
  const orderId = `reset-${eventId}`;
  const about = { orderId, number: number + 1, agentId, instanceId, runtimeId: runtimeId ?? '', caseId: null, taskId };
  return {
    topic: Topic.agentOrder,
    type: 'RESET_BREAKER',
    key: agentId,
    correlationId,
    policy,
    payload: { ...about, ttlMs: TTL_MS, foldedSequence: null, axes: [], awaits: null, name },
  };
};
