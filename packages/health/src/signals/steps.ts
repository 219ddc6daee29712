import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import type { History } from '../history/history.ts';
import { type AnySignal, signal } from './signal.ts';

/** A loop: the same call, cycle or error, or RETRY, so often in a row. */
const LOOP_TIMES = 3;
const LOOP_WITHIN_MS = 600_000;

/** Since when it goes round in a loop, however small: enough to confirm another signal, not to judge by. NEVER: it does not. */
function loopFrom({ runs, errors, steps }: History): number {
  const { top, at } = runs.exact;
  const repeats = top.some((times) => times >= LOOP_TIMES);
  const fails = (errors.spans[LOOP_TIMES - 2] ?? NEVER) <= LOOP_WITHIN_MS;
  return Math.min(repeats ? at : NEVER, fails ? errors.at : NEVER, steps.retries >= LOOP_TIMES ? steps.at : NEVER);
}

const limits = z.strictObject({
  at: z.int().min(1),
  /** only while it goes round in a loop: the same call, cycle or error three times, or three RETRY in a row */
  needs_loop: z.boolean().default(false),
});

/** Steps since the last ACCEPT; it ends with the next. */
export const noAccept: AnySignal = signal(limits, {
  axis: 'repetition',
  awaits: ['accept'],
  by: 'steps',
  firesFrom: (h, l) => {
    if (h.steps.sinceAccept < l.at) return NEVER;
    return l.needs_loop ? Math.max(h.steps.at, loopFrom(h)) : h.steps.at;
  },
  evidence: (h, l) => {
    const { sinceAccept: value } = h.steps;
    const steps = value === 1 ? '1 step' : `${value} steps`;
    const loop = !l.needs_loop ? '' : loopFrom(h) < NEVER ? ', in a loop' : ', in no loop';
    return { value, limit: l.at, words: `${steps} since the last ACCEPT${loop}; limit ${l.at}`, hard: false };
  },
  finding: ({ steps }) => `None of your last ${steps.sinceAccept} steps has been accepted.`,
  advice: 'Read why they were not accepted, then change the approach or say what you need.',
});
