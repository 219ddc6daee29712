import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import type { ToolFailures } from '../history/calls/calls.ts';
import { failedOf, MOST_CALLS } from '../history/calls/last-calls.ts';
import { reportedIn } from '../history/calls/reported-errors.ts';
import { hash32 } from '../history/hash.ts';
import type { History } from '../history/history.ts';
import { type AnySignal, ofTools, ofTurn, perTurn, signal, tools } from './signal.ts';

const failureLimits = z.strictObject({ above: z.int().min(1), ...tools, ...perTurn });
type FailureLimits = z.output<typeof failureLimits>;

type Failures = Pick<ToolFailures, 'failures' | 'at'>;

/** With tools named, the failures in a row of one of them count, also with calls of other tools between. */
const failuresOf = ({ calls, runs }: History, { applies_to, except, per }: FailureLimits): Failures | null => {
  if (applies_to.length === 0 && except.length === 0) {
    const longest = per === 'turn' && runs.turn !== undefined ? runs.turn.calls : NEVER;
    return calls.failedAt === null ? null : { failures: Math.min(calls.failures, longest), at: calls.failedAt };
  }
  const [only, without] = [applies_to.map((name) => hash32(name)), except.map((name) => hash32(name))];
  const counted = calls.failing
    .filter(({ tool }) => (only.length === 0 || only.includes(tool)) && !without.includes(tool))
    .map(({ failures, before = 0, at }) => ({ failures: per === 'turn' ? failures - before : failures, at }));
  return counted.reduce<Failures | null>((most, one) => (one.failures > (most?.failures ?? 0) ? one : most), null);
};

/** Failed calls in a row, strictly above the limit. */
export const consecutiveFailures: AnySignal = signal(failureLimits, {
  axis: 'rate',
  awaits: ['success'],
  firesFrom: (h, l) => {
    const found = failuresOf(h, l);
    return found !== null && found.failures > l.above ? found.at : NEVER;
  },
  evidence: (h, l) => {
    const value = failuresOf(h, l)?.failures ?? 0;
    return {
      value,
      limit: l.above,
      words: `${value} failed calls in a row${ofTools(l)}${ofTurn(l)}; limit ${l.above}`,
      hard: false,
    };
  },
  finding: (h, l) => `Your last ${failuresOf(h, l)?.failures ?? 0} calls${ofTools(l)}${ofTurn(l)} have all failed.`,
  advice: 'Find the cause before the next call. Try another way, or report what blocks you.',
});

const budgetLimits = z.strictObject({
  above: z.int().min(1),
  /** what starts the count: the instance, declared progress (a checkpoint, a work update, an ACCEPT), or a turn of its client */
  per: z.enum(['instance', 'progress', 'turn']).default('instance'),
});
const PER = { instance: '', progress: ' since its last declared progress', turn: ' in this turn' } as const;

/** More finished calls than the budget. */
export const callBudget: AnySignal = signal(budgetLimits, {
  axis: 'rate',
  awaits: [],
  by: 'made',
  firesFrom: ({ made }, { above, per }) => (made[per] > above ? made.at : NEVER),
  evidence: ({ made }, { above, per }) => ({
    value: made[per],
    limit: above,
    words: `${made[per]} calls${PER[per]}; limit ${above}`,
    hard: false,
  }),
  finding: ({ made }, { per }) => `You have made ${made[per]} calls${PER[per].replace('its', 'your')}.`,
  advice: 'Write a checkpoint of what is done and what remains, then report whether the task can be finished.',
});

const errorRateLimits = z
  .strictObject({
    /** of 1 */
    above: z.number().min(0).max(1),
    window: z.int().min(1).max(MOST_CALLS).default(20),
    /** fewer calls are too few for a finding */
    min_calls: z.int().min(1).default(8),
  })
  .refine((l) => l.min_calls <= l.window, {
    path: ['min_calls'],
    message: 'is above window, so it is never reached: write at most as many calls as window',
  });

/** The share of failed calls among the last ones, strictly above the limit. */
export const errorRate: AnySignal = signal(errorRateLimits, {
  axis: 'rate',
  awaits: [],
  by: 'outcomes',
  firesFrom: ({ outcomes }, l) => {
    const { calls, failed } = failedOf(outcomes, l.window);
    return calls >= l.min_calls && failed / calls > l.above ? outcomes.at : NEVER;
  },
  evidence: ({ outcomes }, l) => {
    const { calls, failed } = failedOf(outcomes, l.window);
    const value = calls === 0 ? null : failed / calls;
    const few = calls < l.min_calls ? `, too few: ${l.min_calls} are needed` : '';
    const words = `${failed} of the last ${calls} calls failed${few}; limit ${percent(l.above)}`;
    return { value, limit: l.above, words, hard: false };
  },
  finding: ({ outcomes }, l) => {
    const { calls, failed } = failedOf(outcomes, l.window);
    return `Of your last ${calls} calls, ${failed} have failed.`;
  },
  advice: 'Find out what they have in common before the next call.',
});

const reportedLimits = z
  .strictObject({
    /** of 1 */
    above: z.number().min(0).max(1),
    window: z.int().min(1).max(MOST_CALLS).default(20),
    /** fewer operations, and fewer errors, are too few for a finding */
    min_operations: z.int().min(1).default(8),
  })
  .refine((l) => l.min_operations <= l.window, {
    path: ['min_operations'],
    message: 'is above window, so it is never reached: write at most as many operations as window',
  });

/** The agent's own count of errors rises by more than a share of its calls or steps. */
export const reportedErrors: AnySignal = signal(reportedLimits, {
  axis: 'rate',
  awaits: [],
  by: 'reportedErrors',
  firesFrom: ({ reportedErrors }, l) => {
    const { operations, failed } = reportedIn(reportedErrors, l.window);
    const isEnough = Math.max(operations, failed) >= l.min_operations;
    return isEnough && failed > l.above * operations ? reportedErrors.at : NEVER;
  },
  evidence: ({ reportedErrors }, l) => {
    const { operations, failed } = reportedIn(reportedErrors, l.window);
    const value = operations === 0 ? null : failed / operations;
    const few = Math.max(operations, failed) < l.min_operations ? `, too few: ${l.min_operations} are needed` : '';
    const words = `it counted ${failed} errors in its last ${operations} calls or steps${few}; limit ${percent(l.above)}`;
    return { value, limit: l.above, words, hard: false };
  },
  finding: ({ reportedErrors }, l) => {
    const { operations, failed } = reportedIn(reportedErrors, l.window);
    return `You have counted ${failed} errors in your last ${operations} calls or steps.`;
  },
  advice: 'Find out what they have in common before the next call.',
});

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;
