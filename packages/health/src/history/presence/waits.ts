/**
 * What a wait counts for, each as a stored bit. Most are exemptions, where the policy has them. `stopped`: no call could
 * continue, because the agent was paused or waited for a person. `question`: a person had something to answer.
 */
export const WAIT = {
  paused: 1,
  rate_limited: 2,
  awaiting_input: 4,
  handing_off: 8,
  idle: 16,
  stopped: 32,
  question: 64,
} as const;

/** A wait between two marks; `to` is NEVER while no end is known. `kinds`: a sum of WAIT. */
export type Interval = readonly [from: number, to: number, kinds: number];

/** The waits until the last receipt, the oldest first. They do not overlap. */
export type Waits = readonly Interval[];

export const NO_WAITS: Waits = [];

/** The largest number of intervals that are stored. */
export const MOST_WAITS = 16;

/** The waits with those between two receipts. `from` and `to`: the marks of the receipts. */
export const waitsAfter = (before: Waits, present: readonly Interval[], from: number, to: number): Waits => {
  const after = withPresent(before, present, from, to);
  return after.length > MOST_WAITS ? shortened(after) : after;
};

/** Adds the parts of these waits between two marks, where no earlier wait is, and divides them where they overlap. */
export const withPresent = (before: Waits, present: readonly Interval[], from: number, to: number): Waits => {
  const within = present.flatMap(([start, end, kinds]): Interval[] => {
    const part: Interval = [Math.max(from, start), Math.min(to, end), kinds];
    return part[1] > part[0] ? [part] : [];
  });
  if (within.length === 0) return before;
  const starts = within.map(([start]) => start);
  const edges = [...new Set([...starts, ...within.map(([, end]) => end)])].sort((a, b) => a - b);
  const after = [...before];
  for (const [i, start] of edges.entries()) {
    const end = edges[i + 1] ?? start;
    let kinds = 0;
    for (const [first, last, more] of within) if (first <= start && last >= end) kinds |= more;
    if (end > start && kinds !== 0) append(after, [start, end, kinds]);
  }
  return after;
};

const append = (waits: Interval[], [from, to, kinds]: Interval): void => {
  const last = waits.at(-1);
  if (last !== undefined && last[1] === from && last[2] === kinds) waits[waits.length - 1] = [last[0], to, kinds];
  else waits.push([from, to, kinds]);
};

const lengthOf = ([from, to]: Interval): number => to - from;

/**
 * Joins two neighbours until at most MOST_WAITS are left: the earlier one is moved to the beginning of the later one. So
 * an absence that began before both loses nothing, and for one that began between them more is left out, never less.
 * The two with the smallest such error are joined; neighbours of different kinds count for the kinds of both.
 */
const shortened = (waits: Waits): Waits => {
  let joined = waits;
  while (joined.length > MOST_WAITS) {
    let [place, least] = [1, Number.POSITIVE_INFINITY];
    for (let i = 1; i < joined.length; i++) {
      const [earlier, later] = [joined[i - 1] as Interval, joined[i] as Interval];
      const error = lengthOf(earlier) + (earlier[2] === later[2] ? 0 : lengthOf(later));
      if (error < least) [place, least] = [i, error];
    }
    const [earlier, later] = [joined[place - 1] as Interval, joined[place] as Interval];
    const both: Interval = [later[0] - lengthOf(earlier), later[1], earlier[2] | later[2]];
    joined = joined.toSpliced(place - 1, 2, both);
  }
  return joined;
};

/** How long the waits of these kinds lasted between two marks, milliseconds. */
export const waitedBetween = (waits: Waits, kinds: number, from: number, to: number): number => {
  let sum = 0;
  for (const [start, end, those] of waits)
    if ((those & kinds) !== 0) sum += Math.max(0, Math.min(to, end) - Math.max(from, start));
  return sum;
};

/** The first mark at which `ms` have passed since `from`, without the waits of these kinds. */
export const markAfter = (waits: Waits, kinds: number, from: number, ms: number): number => {
  let [mark, left] = [from, ms];
  for (const [start, end, those] of waits) {
    if ((those & kinds) === 0 || end <= mark) continue;
    const until = Math.max(0, start - mark);
    if (until >= left) break;
    left -= until;
    mark = end;
  }
  return mark + left;
};

/** The end of the last wait of these kinds; 0: there was none. */
export const lastWaitEnd = (waits: Waits, kinds: number): number =>
  waits.reduce((last, [, end, those]) => ((those & kinds) === 0 ? last : Math.max(last, end)), 0);
