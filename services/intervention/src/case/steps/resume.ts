import { type Step, spell } from '@vigil/policy';
import { fill, order, orderHead } from '../drafts.ts';
import type { ActiveCase } from '../state.ts';
import { act, type StepDecision, type StepRules, unreachable } from './step.ts';

type Resume = Extract<Step, { readonly step: 'resume' }>;

/** How long the order may reach its runtime, milliseconds. */
const ttlMs = 60_000;

/** A session that hangs again soon after it was resumed is not resumed again: the plan continues and ends it. */
const skipped = (
  { againAfterMs }: Resume,
  { caseContext, resumedAt, openedAt }: ActiveCase,
  now: number,
): StepDecision | null => {
  const barred = unreachable(caseContext);
  if (barred) return { kind: 'skip', ...barred, leads: 'next' };
  if (caseContext.client?.session_id == null)
    return { kind: 'skip', why: 'no_session', detail: 'its client has not reported a session', leads: 'next' };
  if (resumedAt == null || now >= resumedAt + againAfterMs) return null;
  const ago = spell(Math.max(openedAt, now) - resumedAt);
  const detail = `its session was resumed ${ago} ago, and the policy waits ${spell(againAfterMs)} before it does so again`;
  return { kind: 'skip', why: 'requires', detail, leads: 'next' };
};

const decideStep = (step: Resume, activeCase: ActiveCase, now: number): StepDecision => {
  const { caseContext, attempt, death } = activeCase;
  if (death || caseContext.client === null || caseContext.client === undefined) return { kind: 'next' };
  if (attempt.sent === 0) return skipped(step, activeCase, now) ?? act;
  const until = attempt.lastAt + step.waitMs;
  return attempt.order?.isUndone || now >= until ? { kind: 'next' } : { kind: 'wait', until };
};

/** Ends the processes of a coding agent and starts the same session again. It ends a process, so it is ruled like a terminate. */
export const resume: StepRules<Resume> = {
  ruling: 'destructive',
  decideStep,
  act: ({ graceMs, message }, { caseContext }, { number }) => [
    order(caseContext, {
      type: 'RESUME_SESSION',
      payload: { ...orderHead(caseContext, number), ttlMs, graceMs, message: fill(message, caseContext) },
    }),
  ],
};
