/** A time from `from` to `to`, both included; epoch milliseconds. */
export type Period = { readonly from: number; readonly to: number };

export const ALWAYS: Period = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

export const isIn = ({ from, to }: Period, at: number): boolean => at >= from && at <= to;

/** Whether something that began at `start` and ended at `end` (null: it has not) was at any moment in the period. */
export const overlaps = ({ from, to }: Period, start: number | null, end: number | null): boolean =>
  (start === null || start <= to) && (end === null || end >= from);
