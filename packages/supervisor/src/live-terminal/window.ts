/** The last lines of a terminal that are published, and the most characters of a line and of all lines. */
export const MOST_LINES = 200;
export const LONGEST_LINE = 500;
export const MOST_CHARACTERS = 60_000;

/** How some lines become others: `removed` leave at the top, `kept` after them stay, and `lines` follow. */
export type LinesChange = { readonly removed: number; readonly kept: number; readonly lines: readonly string[] };

/** The newest lines that a record may carry. */
export const fitted = (lines: readonly string[]): readonly string[] => {
  const last = lines.slice(-MOST_LINES).map((line) => line.slice(0, LONGEST_LINE).toWellFormed());
  let size = 0;
  for (let from = last.length - 1; from >= 0; from -= 1) {
    size += last[from]?.length ?? 0;
    if (size > MOST_CHARACTERS) return last.slice(from + 1);
  }
  return last;
};

const sameFrom = (before: readonly string[], removed: number, after: readonly string[]): number => {
  let same = 0;
  while (removed + same < before.length && same < after.length && before[removed + same] === after[same]) same += 1;
  return same;
};

/** The change that repeats the fewest lines. */
export const changeBetween = (before: readonly string[], after: readonly string[]): LinesChange => {
  let [removed, kept] = [0, sameFrom(before, 0, after)];
  for (let candidate = 1; candidate < before.length; candidate += 1) {
    const same = sameFrom(before, candidate, after);
    if (same > kept) [removed, kept] = [candidate, same];
  }
  return { removed, kept, lines: after.slice(kept) };
};

/** The lines after a change. */
export const changed = (before: readonly string[], { removed, kept, lines }: LinesChange): readonly string[] =>
  [...before.slice(removed, removed + kept), ...lines].slice(-MOST_LINES);
