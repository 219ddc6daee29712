import { type Pattern, pattern, patternInAnyCase } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import { hash32 } from '../history/hash.ts';
import type { History } from '../history/history.ts';
import { standingSince } from '../history/presence/matches.ts';
import { type AnySignal, type Figure, fact, signal } from './signal.ts';

/** Texts that mean a reached limit. A bare 429, or "rate" inside a word, is not one. */
export const RATE_LIMIT_PATTERNS: readonly Pattern[] = z
  .array(patternInAnyCase)
  .parse([
    '\\brate[ _-]?limit',
    '\\b(http|status|error|code)\\W{0,3}429\\b',
    '\\b429 too many requests',
    '\\boverloaded(_error)?\\b',
  ]);

/** A larger window keeps a finding long after its cause (gascity's limit of lines that are looked at). */
const MOST_LINES = 2000;

/** The part of the output that is searched: the last `lines` lines, as shown by a terminal. */
const looking = { patterns: z.array(pattern).default([]), lines: z.int().min(1).max(MOST_LINES).default(50) };
type Looking = { readonly patterns: readonly Pattern[]; readonly lines: number };

const errorPatternLimits = z.strictObject(looking);

/** A pattern of the policy is in the output. An empty list switches off this signal only. */
export const errorPattern: AnySignal = signal(errorPatternLimits, {
  axis: 'fact',
  awaits: [],
  by: 'matches',
  patterns: ({ patterns }) => patterns,
  firesFrom: (h, limits) => matchedFrom(h, limits),
  evidence: (h, limits) => matchedFigure('its output', h, limits) ?? fact('none of its patterns in the output', false),
  finding: () => 'Your output shows an error that is known to stop sessions.',
  advice: 'Read the error and solve its cause, or report what blocks you.',
});

const unrecoverableLimits = z.strictObject({
  /** error classes, of calls or of errors, after which the agent cannot continue */
  classes: z.array(z.string().min(1)).default([]),
  ...looking,
});

/**
 * An error that is listed as fatal, by its class or by a pattern. Progress ends a finding by class, because the error
 * was not fatal.
 */
export const unrecoverableError: AnySignal = signal(unrecoverableLimits, {
  axis: 'fact',
  awaits: [],
  patterns: ({ patterns }) => patterns,
  firesFrom: (h, limits) => Math.min(classFrom(h, limits.classes), matchedFrom(h, limits)),
  evidence: (h, limits) => {
    const named = limits.classes.find((name) => classFrom(h, [name]) < NEVER);
    if (named !== undefined) return fact(`the error ${named} is listed as fatal`, true);
    return matchedFigure('an error listed as fatal: its output', h, limits) ?? fact('no error listed as fatal', false);
  },
  finding: (h, limits) => {
    const named = limits.classes.find((name) => classFrom(h, [name]) < NEVER);
    return `An error that is listed as fatal has come${named === undefined ? '' : ` (${named})`}.`;
  },
  advice: 'Write a checkpoint if you can, and report what blocks you.',
});

const classFrom = ({ errors }: History, names: readonly string[]): number => {
  if (errors.classes.length === 0) return NEVER;
  let first = NEVER;
  for (const name of names) {
    const sign = hash32(name);
    for (const known of errors.classes) if (known.sign === sign) first = Math.min(first, known.at);
  }
  return first;
};

const matchedFrom = ({ matches, progress }: History, { patterns, lines }: Looking): number => {
  if (matches.seen.length === 0) return NEVER;
  let first = NEVER;
  for (const { source } of patterns)
    first = Math.min(first, standingSince(matches, source, lines, progress.at) ?? NEVER);
  return first;
};

/** The sources, sorted and joined by commas, so that the same findings give the same text. */
const matchedFigure = (what: string, { matches, progress }: History, { patterns, lines }: Looking): Figure | null => {
  const sources = patterns.map(({ source }) => source);
  const found = sources.filter((source) => standingSince(matches, source, lines, progress.at) !== null);
  if (found.length === 0) return null;
  const matched = [...new Set(found)].sort().join(',');
  return { ...fact(`${what} matches ${matched} within its last ${lines} lines`, true), matched };
};
