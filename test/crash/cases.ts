import type { EventOf, Topic } from '@vigil/events';

type Intervention = EventOf<typeof Topic.agentIntervention>;
type Opened = Extract<Intervention, { readonly type: 'CASE_OPENED' }>;

/** Cases that a warrant has opened besides the one that it may: nothing is withheld here, so none is opened again. */
export const casesTooMany = (events: readonly Intervention[]): readonly string[] => {
  const first = new Map<string, string>();
  return events
    .filter((each): each is Opened => each.type === 'CASE_OPENED')
    .flatMap(({ payload: { warrantId, caseId } }) => {
      if (warrantId === null) return [];
      const earlier = first.get(warrantId);
      if (earlier !== undefined) return [`${warrantId}: ${caseId} beside ${earlier}`];
      first.set(warrantId, caseId);
      return [];
    });
};
