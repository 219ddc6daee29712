import { duration, spell } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import { MOST_TIMES } from '../history/errors.ts';
import { MAX_CYCLE, type Runs, type Track } from '../history/runs.ts';
import { type AnySignal, signal } from './signal.ts';

const limits = z
  .strictObject({
    times: z.int().min(2),
    max_cycle: z.int().min(1).max(MAX_CYCLE).default(MAX_CYCLE),
    /** repetitions of a cycle; as many as `times` where none is given */
    cycles: z.int().min(2).optional(),
    /** off where none is given */
    masked_times: z.int().min(2).optional(),
    /** off where none is given */
    masked_cycles: z.int().min(2).optional(),
    /** a row of polling calls must have lasted longer, too */
    polling_after: duration.default(1_800_000),
  })
  .transform((l) => ({
    ...l,
    cycles: l.cycles ?? l.times,
    masked_times: l.masked_times ?? NEVER,
    masked_cycles: l.masked_cycles ?? NEVER,
  }));
type Limits = z.output<typeof limits>;

/** S0's repeated identical operations: a count, so it fires when reached; it ends by progress. */
export const repeatedCalls: AnySignal = signal(limits, {
  axis: 'repetition',
  firesFrom: ({ runs }, l) => {
    if (!found(runs, l)) return NEVER;
    return runs.polling ? Math.max(runs.at, runs.since + l.polling_after + 1) : runs.at;
  },
  evidence: ({ runs, started }, l) => {
    const { value, limit, what } = strongest(runs, l);
    const tool = runs.tool ?? 'none';
    const often = value === 1 ? 'once' : `${value} times in a row with the same result`;
    const words = `${what} (${tool}) ${often}; limit ${limit}`;
    const polls = runs.polling ? `, polling for ${spell(Math.max(0, runs.at - (runs.since || started.now)))}` : '';
    return { value, limit, words: words + polls, hard: false };
  },
});

function found(runs: Runs, l: Limits): boolean {
  return (
    rowOf(runs) >= l.times ||
    cyclesOf(runs, l) >= l.cycles ||
    rowOf(runs.masked) >= l.masked_times ||
    cyclesOf(runs.masked, l) >= l.masked_cycles
  );
}

const rowOf = ({ top }: Track): number => top[0] ?? 0;

function cyclesOf({ top }: Track, l: Limits): number {
  let most = 0;
  for (let period = 2; period <= l.max_cycle; period++) most = Math.max(most, top[period - 1] ?? 0);
  return most;
}

function strongest(runs: Runs, l: Limits): { value: number; limit: number; what: string } {
  const row = { value: rowOf(runs), limit: l.times, what: 'the same call' };
  const ways = [
    row,
    { value: cyclesOf(runs, l), limit: l.cycles, what: 'the same cycle of calls' },
    { value: rowOf(runs.masked), limit: l.masked_times, what: 'the same call but for numbers' },
    { value: cyclesOf(runs.masked, l), limit: l.masked_cycles, what: 'the same cycle of calls but for numbers' },
  ];
  return ways.find(({ value, limit }) => value >= limit) ?? row;
}

const errorLimits = z.strictObject({ times: z.int().min(2).max(MOST_TIMES), within: duration });

/** S1: the same error, whatever was tried. A count, so it fires when reached; it ends by progress. */
export const repeatedError: AnySignal = signal(errorLimits, {
  axis: 'repetition',
  firesFrom: ({ errors }, { times, within }) => ((errors.spans[times - 2] ?? NEVER) <= within ? errors.at : NEVER),
  evidence: ({ errors }, { times, within }) => {
    const value = errors.spans.findLastIndex((span) => span <= within) + 2;
    const found = errors.spans.length > 0 && value > 1;
    const words = found ? `the same error (${errors.name}) ${value} times` : 'no error twice';
    return {
      value: found ? value : null,
      limit: times,
      words: `${words} within ${spell(within)}; limit ${times}`,
      hard: false,
    };
  },
});

/** S1: reads and edits of one target that leave it as it was. */
export const sameTarget: AnySignal = signal(z.strictObject({ times: z.int().min(2) }), {
  axis: 'repetition',
  firesFrom: ({ targets }, { times }) => (targets.top >= times ? targets.at : NEVER),
  evidence: ({ targets: { top, name } }, { times }) => {
    const often = top === 0 ? 'no target read or edited in vain' : `${name} read or edited ${top} times without change`;
    return { value: top, limit: times, words: `${often}; limit ${times}`, hard: false };
  },
});
