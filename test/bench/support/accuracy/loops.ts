import type { Call } from './runs.ts';

/** A loop must be detected at the fifth identical call in a row, or at the fourth turn of a cycle. */
const ROW = 5;
const TURNS = 4;
const LONGEST = 5;

/** The number of calls up to the end of the first row of `ROW` identical calls; null without one. */
export const fifthOfARow = (calls: readonly Call[]): number | null => reached(calls, 1, ROW);

/** The number of calls up to the fourth turn of a cycle of two to five calls; null without one. */
export const fourthTurn = (calls: readonly Call[]): number | null => {
  const all = [2, 3, 4, LONGEST].flatMap((period) => reached(calls, period, TURNS) ?? []);
  return all.length === 0 ? null : Math.min(...all);
};

/** Identical: the same tool, arguments and digit-masked result. */
const same = (a: Call | undefined, b: Call | undefined): boolean =>
  a !== undefined && b !== undefined && a.tool === b.tool && a.args_h === b.args_h && a.resn_h === b.resn_h;

const reached = (calls: readonly Call[], period: number, turns: number): number | null => {
  let row = 0;
  for (let i = period; i < calls.length; i++) {
    row = same(calls[i], calls[i - period]) ? row + 1 : 0;
    if (row + period >= turns * period) return i + 1;
  }
  return null;
};
