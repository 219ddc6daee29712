import type { RecordedRun } from '@vigil/health';

const LONGEST_CYCLE = 12;

const keyOf = ({ tool, args, args_h }: RecordedRun['calls'][number]): string => JSON.stringify([tool, args_h ?? args]);

/** How many of the last calls repeat a cycle of `period` calls. */
const repeating = (keys: readonly string[], period: number): number => {
  let i = keys.length - 1;
  while (i >= period && keys[i] === keys[i - period]) i -= 1;
  return keys.length - 1 - i + period;
};

/** The number of calls of a loop at the end of these: of the shortest cycle that comes at least twice; null: no loop. */
export const loopAtEnd = (calls: RecordedRun['calls']): number | null => {
  const keys = calls.map(keyOf);
  for (let period = 1; period <= LONGEST_CYCLE && 2 * period <= keys.length; period++) {
    const count = repeating(keys, period);
    if (count >= 2 * period) return count;
  }
  return null;
};
