import type { EventOf, Topic } from '@vigil/events';

type Intervention = EventOf<typeof Topic.agentIntervention>;

/**
 * Cases that a warrant has opened beyond the permitted one. No step is withheld here, so no case is reopened for that
 * reason. A case that expired, because the evaluator was away for longer than the warrant's lease, may open again when
 * the warrant is renewed.
 */
export const casesTooMany = (events: readonly Intervention[]): readonly string[] => {
  const opened = new Map<string, string>();
  const tooMany: string[] = [];
  for (const { type, payload } of events) {
    if (
      type === 'CASE_CLOSED' &&
      payload.ending === 'expired' &&
      opened.get(payload.warrantId ?? '') === payload.caseId
    )
      opened.delete(payload.warrantId ?? '');
    if (type !== 'CASE_OPENED' || payload.warrantId === null) continue;
    const earlier = opened.get(payload.warrantId);
    if (earlier === undefined) opened.set(payload.warrantId, payload.caseId);
    else tooMany.push(`${payload.warrantId}: ${payload.caseId} beside ${earlier}`);
  }
  return tooMany;
};
