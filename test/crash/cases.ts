import type { EventOf, Topic } from '@vigil/events';

type Intervention = EventOf<typeof Topic.agentIntervention>;
type Opened = Extract<Intervention, { readonly type: 'CASE_OPENED' }>;
type Closed = Extract<Intervention, { readonly type: 'CASE_CLOSED' }>;

const before = (one: Intervention, other: Intervention): boolean => (one.version ?? 0) < (other.version ?? 0);

/**
 * Cases that a warrant has opened besides the one that it may: a further one follows only from a case that was closed because its ruling
 * was withheld, or came too late to be used while the governor's time stood still; then the warrant, renewed, asks again.
 */
export const casesTooMany = (events: readonly Intervention[]): readonly string[] => {
  const opened = events.filter((each): each is Opened => each.type === 'CASE_OPENED');
  const closed = events.filter((each): each is Closed => each.type === 'CASE_CLOSED');
  const ofWarrants = opened.filter(({ payload }) => payload.warrantId !== null);
  return ofWarrants.flatMap((later) => {
    const { warrantId } = later.payload;
    const earlier = ofWarrants.filter((each) => each.payload.warrantId === warrantId && before(each, later));
    const unclosed = earlier.filter(
      ({ payload: { caseId } }) =>
        !closed.some(
          (each) => each.payload.caseId === caseId && each.payload.ending === 'withheld' && before(each, later),
        ),
    );
    return unclosed.map(({ payload }) => `${warrantId}: ${later.payload.caseId} beside ${payload.caseId}`);
  });
};
