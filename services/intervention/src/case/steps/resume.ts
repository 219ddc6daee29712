import { type Step, spell } from '@vigil/policy';
import { fill, order, orderHead } from '../drafts.ts';
import type { Open } from '../open.ts';
import { act, handless, type StepRules, type Turn } from './step.ts';

type Resume = Extract<Step, { readonly step: 'resume' }>;

/** How long the order may reach its runtime, milliseconds. */
const ttlMs = 60_000;

/** A session that hangs again soon after it was resumed is not resumed again: the plan goes on to end it. */
const skipped = ({ againAfterMs }: Resume, { matter, resumedAt, openedAt }: Open, now: number): Turn | null => {
  const barred = handless(matter);
  if (barred) return { want: 'skip', ...barred, leads: 'next' };
  if (matter.client?.session_id == null)
    return { want: 'skip', why: 'no_session', detail: 'its client has not reported a session', leads: 'next' };
  if (resumedAt == null || now >= resumedAt + againAfterMs) return null;
  const ago = spell(Math.max(openedAt, now) - resumedAt);
  const detail = `its session was resumed ${ago} ago, and the policy waits ${spell(againAfterMs)} before it does so again`;
  return { want: 'skip', why: 'requires', detail, leads: 'next' };
};

const turn = (step: Resume, open: Open, now: number): Turn => {
  const { matter, attempt, death } = open;
  if (death || matter.client === null || matter.client === undefined) return { want: 'next' };
  if (attempt.sent === 0) return skipped(step, open, now) ?? act;
  const until = attempt.lastAt + step.waitMs;
  return attempt.order?.isUndone || now >= until ? { want: 'next' } : { want: 'wait', until };
};

/** Ends the processes of a coding agent and starts the same session again. It ends a process, so it is ruled like a terminate. */
export const resume: StepRules<Resume> = {
  ruling: 'destructive',
  turn,
  act: ({ graceMs, message }, { matter }, { number }) => [
    order(matter, {
      type: 'RESUME_SESSION',
      payload: { ...orderHead(matter, number), ttlMs, graceMs, message: fill(message, matter) },
    }),
  ],
};
