import type { Pattern } from '@vigil/policy';
import { hash32 } from '../hash.ts';
import { type Heartbeat, instant, type Receipt } from '../moment.ts';

/** The number of patterns whose match is kept. At least as many rules with patterns never lose their finding. */
export const MATCHES = 8;

/**
 * The patterns of a policy for the texts of agents. `together`: for each rule, the hashes of its patterns among
 * `others`.
 */
export type LookedFor = {
  readonly rateLimits: readonly Pattern[];
  readonly others: readonly Pattern[];
  readonly together: readonly (readonly number[])[];
};

/** `sign`: a hash of the pattern's source. `line`: the line number in the output; null if unknown. */
export type Match = { readonly sign: number; readonly line: number | null; readonly at: number };

/** The last match of each pattern. */
export type Matches = {
  /** lines of output so far; null if they are not counted */
  readonly lines: number | null;
  /** the most recent last */
  readonly seen: readonly Match[];
};

export const NO_MATCHES: Matches = { lines: null, seen: [] };

/** New text of the agent in this heartbeat. */
export type Text = { readonly text: string; readonly line: number | null };

const NOTHING: readonly Text[] = [];

/**
 * The new lines of the tail since the last heartbeat (all of them if lines are not counted), and the texts of errors.
 */
export const textsOf = (before: Matches, { output, errors }: Heartbeat): readonly Text[] => {
  const tail = output?.tail ?? [];
  if (tail.length === 0 && errors.length === 0) return NOTHING;
  const last = output?.lines ?? null;
  const known = last === null || before.lines === null || last < before.lines ? 0 : before.lines;
  const lines = tail.map((text, i): Text => ({ text, line: last === null ? null : last - tail.length + 1 + i }));
  const errorTexts = errors.flatMap(({ message, error_class: name }) => [message ?? [], name ?? []].flat());
  return [
    ...lines.filter(({ line }) => line === null || line > known),
    ...errorTexts.map((text): Text => ({ text, line: last })),
  ];
};

/** The matches that runtimes report, and the matches of `others` in the texts. */
export const matchesAfter = (
  before: Matches,
  texts: readonly Text[],
  { others, together }: Pick<LookedFor, 'others' | 'together'>,
  { output }: Heartbeat,
  receipt: Receipt,
): Matches => {
  const lines = output?.lines ?? before.lines;
  const over = lines !== null && before.lines !== null && lines < before.lines;
  let seen = over ? [] : before.seen;
  for (const { source, at, line } of output?.matched_patterns ?? [])
    seen = withMatch(seen, { sign: hash32(source), line: line ?? lines, at: instant(receipt, at).now }, together);
  for (const { text, line } of texts)
    for (const pattern of others)
      if (pattern.isIn(text)) seen = withMatch(seen, { sign: hash32(pattern.source), line, at: receipt.now }, together);
  return lines === before.lines && seen === before.seen ? before : { lines, seen };
};

const withMatch = (seen: readonly Match[], match: Match, together: LookedFor['together']): readonly Match[] => {
  const all = [...seen.filter(({ sign }) => sign !== match.sign), match];
  if (all.length <= MATCHES) return all;
  const spare = leastMissed(all, together);
  return all.filter((one) => one !== spare);
};

/**
 * A rule fires by any of its patterns, so its longest-lasting match is enough. Of the others, the oldest is dropped.
 */
const leastMissed = (seen: readonly Match[], together: LookedFor['together']): Match | undefined => {
  const needed = together.map((signs) => seen.filter(({ sign }) => signs.includes(sign)).reduce(longer, undefined));
  return seen.find((match) => !needed.includes(match)) ?? seen[0];
};

const longer = (one: Match | undefined, other: Match): Match => {
  if (one === undefined || other.line === null) return other;
  return one.line !== null && one.line <= other.line ? other : one;
};

/**
 * The start of a match that still holds. It holds within the last `last` lines or, without a count of lines, until
 * progress.
 */
export const standingSince = (matches: Matches, source: string, last: number, progressAt: number): number | null => {
  const sign = hash32(source);
  const match = matches.seen.find((seen) => seen.sign === sign);
  if (!match) return null;
  const { line, at } = match;
  const stands = line === null || matches.lines === null ? progressAt <= at : matches.lines - line < last;
  return stands ? at : null;
};
