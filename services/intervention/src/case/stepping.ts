import type { PlannedStep } from '@vigil/policy';
import { about, ask, closed, say, withdraw } from './drafts.ts';
import { isDoneBefore, notBegun, type Open, standsUntil } from './open.ts';
import { requestId } from './opening.ts';
import { isLate, late, type Ruling } from './ruling.ts';
import { type CaseDraft, type CaseState, unknownLife } from './state.ts';
import { toPeople } from './steps/escalate.ts';
import type { Moment, Turn } from './steps/step.ts';
import { rulesOf } from './steps/steps.ts';

type Asked = Extract<Open['work'], { readonly at: 'asked' }>;
type Refusal = Extract<Ruling, { readonly admitted: false }>;

/** The next step, begun afresh. */
export const advanced = (open: Open): Open => ({
  ...open,
  index: open.index + 1,
  work: { at: 'turn' },
  attempt: notBegun,
});

/** What the step whose turn it is says or asks. */
export const stepMoves = (state: CaseState, open: Open, now: number): readonly CaseDraft[] => {
  if (now < standsUntil(open)) return [];
  const step = open.matter.steps[open.index];
  if (step === undefined) return [closed(open.matter, 'executed', 'the plan is worked through')];
  if (isDoneBefore(open, step)) return stepMoves(state, advanced(open), now);
  const { turn, ruling, act } = rulesOf(step);
  const wants = turn(step, open, now);
  switch (wants.want) {
    case 'wait':
      return [];
    case 'next':
      return stepMoves(state, advanced(open), now);
    case 'skip':
      return skipped(open, wants);
    case 'act':
      if (ruling === null && open.dryRun) return [rehearsed(open, step)];
      return ruling === null
        ? act(step, open, momentAt(state, Math.max(now, open.openedAt)))
        : [ask(open.matter, { requestId: requestId(state, open.matter), step: step.step, class: ruling })];
  }
};

/** When a step acts, and what it acts on. */
const momentAt = (state: CaseState, at: number): Moment => {
  const life = state.life ?? unknownLife;
  return { at, number: life.number + 1, life };
};

const skipped = (open: Open, { why, detail, leads }: Extract<Turn, { want: 'skip' }>): readonly CaseDraft[] => {
  const step = stepName(open);
  const asks = leads === 'people';
  const words = asks && open.dryRun ? `${detail}; people would be asked` : detail;
  const skip = say(open.matter, { type: 'STEP_SKIPPED', payload: { ...about(open.matter), step, why, detail: words } });
  return asks && !open.dryRun ? [skip, toPeople(open, detail)] : [skip];
};

const rehearsed = ({ matter }: Open, { step }: PlannedStep): CaseDraft =>
  say(matter, {
    type: 'STEP_SKIPPED',
    payload: { ...about(matter), step, why: 'dry_run', detail: `${step} would be done now` },
  });

const stepName = ({ matter, index }: Open): PlannedStep['step'] => matter.steps[index]?.step ?? 'UNKNOWN';

/** The case stays open, and the governor keeps its request. A request by hand is not kept: whoever made it may make it again. */
const withheldMoves = (open: Open, { requestId, why, detail }: Refusal): readonly CaseDraft[] => {
  const { matter } = open;
  if (matter.warrantId !== null)
    return [say(matter, { type: 'CASE_WITHHELD', payload: { ...about(matter), step: stepName(open), why, detail } })];
  const reason = `${why}: ${detail}`;
  return [withdraw(matter, requestId, reason), closed(matter, 'withheld', reason)];
};

const undone = 'the dry run is over, and what comes first in the plan has only been said';

/** Admitted, a step acts at once; it is looked at again, as things may have changed while it was asked. */
export const ruledMoves = (
  state: CaseState,
  open: Open,
  work: Asked,
  ruling: Ruling,
  now: number,
): readonly CaseDraft[] => {
  const { matter, index } = open;
  if (!ruling.admitted) return withheldMoves(open, ruling);
  if (work.withheld)
    return [say(matter, { type: 'CASE_RESUMED', payload: { ...about(matter), step: stepName(open) } })];
  if (isLate(ruling, now)) return [withdraw(matter, ruling.requestId, late)];
  const step = matter.steps[index];
  if (step === undefined) return [withdraw(matter, ruling.requestId, 'no such step')];
  const { turn, act } = rulesOf(step);
  const wants = turn(step, open, now);
  if (wants.want === 'skip') return [withdraw(matter, ruling.requestId, wants.detail), ...skipped(open, wants)];
  if (wants.want !== 'act') return [withdraw(matter, ruling.requestId, 'no longer wanted')];
  if (ruling.dryRun) return [rehearsed(open, step)];
  // The steps before it were only said: this one does not follow from them.
  if (open.dryRun && index > 0) return [withdraw(matter, ruling.requestId, undone), closed(matter, 'withheld', undone)];
  return act(step, open, momentAt(state, ruling.since));
};
