import type { Call } from './runs.ts';

/** At the fifth identical call of a row, or the fourth turn of a cycle, a loop is to be caught. */
const ROW = 5;
const TURNS = 4;
const LONGEST = 5;

/** The calls folded by the time that a row of `ROW` identical calls is full; null: the run has none. */
export const fifthOfARow = (calls: readonly Call[]): number | null => reached(calls, 1, ROW);

/**
 * The calls folded by the time that a cycle of two to five calls has come round for the fourth time; null: the run has
 * none.
 */
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
