/** A part of Vigil that does not answer. `since`: epoch milliseconds. */
export type Away = { readonly part: string; readonly since: number; readonly detail: string };

/**
 * How old the answers are. `upTo`: the time up to which the rows are complete, epoch milliseconds; null: nothing is
 * projected yet. `blindSince`: from then on changes may be missing, epoch milliseconds; null: the answers are current.
 */
export type Knowledge = {
  readonly upTo: number | null;
  readonly blindSince: number | null;
  readonly away: readonly Away[];
};

/** Probes come each second and wait for two. What fails within this time of each other is one outage, milliseconds. */
export const SAME_OUTAGE_MS = 5000;

export const isSameOutage = (one: number, other: number): boolean => Math.abs(one - other) <= SAME_OUTAGE_MS;

/**
 * Since when a part is away whose last good answer came at `wellAt`. Rows are complete up to a moment before an outage; a
 * part that fails with them is away since then. Epoch milliseconds.
 */
export const awaySince = (upTo: number | null, wellAt: number): number =>
  upTo !== null && isSameOutage(upTo, wellAt) ? Math.min(upTo, wellAt) : wellAt;
