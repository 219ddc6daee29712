import type { Step } from '@vigil/policy';
import { fill, order, orderHead } from '../drafts.ts';
import type { Open } from '../open.ts';
import { act, handless, type StepRules, type Turn } from './step.ts';

type Interrupt = Extract<Step, { readonly step: 'interrupt' }>;

const turn = ({ waitMs }: Interrupt, { matter, attempt, death }: Open, now: number): Turn => {
  if (death || matter.client === null || matter.client === undefined) return { want: 'next' };
  const barred = handless(matter);
  if (barred) return { want: 'skip', ...barred, leads: 'next' };
  if (attempt.sent === 0) return act;
  const until = attempt.lastAt + waitMs;
  return attempt.order?.isUndone || now >= until ? { want: 'next' } : { want: 'wait', until };
};

/** Ends the turn of a coding agent that hangs, without ending the agent. Concerns only agents whose client is known. */
export const interrupt: StepRules<Interrupt> = {
  ruling: 'soft',
  turn,
  act: ({ waitMs, message }, { matter }, { number }) => [
    order(matter, {
      type: 'INTERRUPT_AGENT',
      payload: { ...orderHead(matter, number), ttlMs: waitMs, message: fill(message, matter) },
    }),
  ],
};
