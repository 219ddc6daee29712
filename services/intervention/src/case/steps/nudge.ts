import type { Step } from '@vigil/policy';
import { about, fill, order, orderHead, orderId, say } from '../drafts.ts';
import type { Open } from '../open.ts';
import { act, type StepRules, type Turn } from './step.ts';

type Nudge = Extract<Step, { readonly step: 'nudge' }>;

/** An answer ends the nudging; what is left of the waits goes on. */
const waitsUntil = (step: Nudge, { attempt, answered }: Open): number =>
  attempt.lastAt + step.intervalMs * (answered ? step.attempts - attempt.sent + 1 : 1);

const turn = (step: Nudge, open: Open, now: number): Turn => {
  if (open.attempt.sent === 0) return open.answered ? { want: 'next' } : act;
  const until = waitsUntil(step, open);
  if (now < until) return { want: 'wait', until };
  return open.answered || open.attempt.sent >= step.attempts ? { want: 'next' } : act;
};

/** One order and one NUDGE_SENT an attempt; the waits run from it. */
export const nudge: StepRules<Nudge> = {
  ruling: 'soft',
  turn,
  act: (step, { matter, attempt }, { number }) => {
    const next = attempt.sent + 1;
    const message = fill(step.message, matter, next, step.attempts);
    return [
      order(matter, {
        type: 'NUDGE_AGENT',
        payload: { ...orderHead(matter, number), ttlMs: step.intervalMs, attempt: next, message },
      }),
      say(matter, {
        type: 'NUDGE_SENT',
        payload: { ...about(matter), attempt: next, of: step.attempts, message, orderId: orderId(matter, number) },
      }),
    ];
  },
};
