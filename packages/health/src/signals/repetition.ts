import { duration, spell } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import { MAX_CYCLE, type Runs } from '../history/runs.ts';
import { type AnySignal, signal } from './signal.ts';

const limits = z
  .strictObject({
    times: z.int().min(2),
    max_cycle: z.int().min(1).max(MAX_CYCLE).default(MAX_CYCLE),
    /** repetitions of a cycle; as many as `times` where none is given */
    cycles: z.int().min(2).optional(),
    /** off where none is given */
    masked_times: z.int().min(2).optional(),
    /** a row of polling calls must have lasted longer, too */
    polling_after: duration.default(1_800_000),
  })
  .transform((l) => ({ ...l, cycles: l.cycles ?? l.times, masked_times: l.masked_times ?? NEVER }));
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
  return (runs.top[0] ?? 0) >= l.times || runs.masked.top >= l.masked_times || cyclesOf(runs, l) >= l.cycles;
}

function cyclesOf(runs: Runs, l: Limits): number {
  let most = 0;
  for (let period = 2; period <= l.max_cycle; period++) most = Math.max(most, runs.top[period - 1] ?? 0);
  return most;
}

function strongest(runs: Runs, l: Limits): { value: number; limit: number; what: string } {
  const row = { value: runs.top[0] ?? 0, limit: l.times, what: 'the same call' };
  if (row.value >= l.times) return row;
  const cycles = cyclesOf(runs, l);
  if (cycles >= l.cycles) return { value: cycles, limit: l.cycles, what: 'the same cycle of calls' };
  if (runs.masked.top >= l.masked_times)
    return { value: runs.masked.top, limit: l.masked_times, what: 'the same call but for numbers' };
  return row;
}
