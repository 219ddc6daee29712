import type { Step } from '@vigil/policy';
import { about, fill, order, orderHead, orderId, say } from '../drafts.ts';
import type { Open } from '../open.ts';
import { act, handless, type StepRules, type Turn } from './step.ts';

type Handoff = Extract<Step, { readonly step: 'handoff' }>;

const turn = ({ deadlineMs }: Handoff, { matter, attempt, death }: Open, now: number): Turn => {
  if (death) return { want: 'next' };
  const barred = handless(matter);
  if (barred) return { want: 'skip', ...barred, leads: 'next' };
  if (attempt.sent === 0) return act;
  const until = attempt.lastAt + deadlineMs;
  return now < until ? { want: 'wait', until } : { want: 'next' };
};

/** The agent is asked to write a checkpoint and to stop by itself. Its end within the plan is a death that the plan goes on from. */
export const handoff: StepRules<Handoff> = {
  ruling: 'soft',
  turn,
  act: ({ deadlineMs, message }, { matter }, { at, number }) => [
    order(matter, {
      type: 'HANDOFF_AGENT',
      payload: { ...orderHead(matter, number), ttlMs: deadlineMs, message: fill(message, matter), deadlineMs },
    }),
    say(matter, {
      type: 'HANDOFF_REQUESTED',
      payload: { ...about(matter), deadlineAt: at + deadlineMs, orderId: orderId(matter, number) },
    }),
  ],
};
