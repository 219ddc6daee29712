import type { Pattern } from '@vigil/policy';
import { hash32 } from './hash.ts';
import { type Beat, instant, type Receipt } from './moment.ts';

/** Patterns of which a match is remembered. */
const MATCHES = 6;

/** What a policy looks for in what agents write. */
export type LookedFor = { readonly rateLimits: readonly Pattern[]; readonly others: readonly Pattern[] };

/** `sign`: the pattern's source as a number. `line`: which line of the output, counted from its beginning; null: unknown. */
export type Match = { readonly sign: number; readonly line: number | null; readonly at: number };

/** Where patterns were last seen. */
export type Matches = {
  /** lines of output so far; null: nobody counts them */
  readonly lines: number | null;
  /** the last seen last */
  readonly seen: readonly Match[];
};

export const NO_MATCHES: Matches = { lines: null, seen: [] };

export const largestMatchesBytes: number = MATCHES * 62 + 40;

/** Something that the agent wrote, new in this heartbeat. */
export type Text = { readonly text: string; readonly line: number | null };

const NOTHING: readonly Text[] = [];

/** The lines of the tail that have come since the last heartbeat, as far as lines are counted, and what errors say. */
export function textsOf(before: Matches, { output, errors }: Beat): readonly Text[] {
  const tail = output?.tail ?? [];
  if (tail.length === 0 && errors.length === 0) return NOTHING;
  const last = output?.lines ?? null;
  const known = last === null || before.lines === null || last < before.lines ? 0 : before.lines;
  const lines = tail.map((text, i): Text => ({ text, line: last === null ? null : last - tail.length + 1 + i }));
  const said = errors.flatMap(({ message, error_class: name }) => [message ?? [], name ?? []].flat());
  return [
    ...lines.filter(({ line }) => line === null || line > known),
    ...said.map((text): Text => ({ text, line: last })),
  ];
}

/** What runtimes report to have matched, and what of `patterns` is in the texts. */
export function matchesAfter(
  before: Matches,
  texts: readonly Text[],
  patterns: readonly Pattern[],
  { output }: Beat,
  receipt: Receipt,
): Matches {
  const lines = output?.lines ?? before.lines;
  const over = lines !== null && before.lines !== null && lines < before.lines;
  let seen = over ? [] : before.seen;
  for (const { source, at } of output?.matched_patterns ?? [])
    seen = withMatch(seen, { sign: hash32(source), line: lines, at: instant(receipt, at).now });
  for (const { text, line } of texts)
    for (const pattern of patterns)
      if (pattern.isIn(text)) seen = withMatch(seen, { sign: hash32(pattern.source), line, at: receipt.now });
  return lines === before.lines && seen === before.seen ? before : { lines, seen };
}

function withMatch(seen: readonly Match[], match: Match): readonly Match[] {
  return [...seen.filter(({ sign }) => sign !== match.sign).slice(1 - MATCHES), match];
}

/** Since when a match still stands: within the last `last` lines; where lines are not counted, until the agent goes forward. */
export function standingSince(matches: Matches, source: string, last: number, progressAt: number): number | null {
  const sign = hash32(source);
  const match = matches.seen.find((seen) => seen.sign === sign);
  if (!match) return null;
  const { line, at } = match;
  const stands = line === null || matches.lines === null ? progressAt <= at : matches.lines - line < last;
  return stands ? at : null;
}
