import { createHash } from 'node:crypto';
import type { Pattern } from '@vigil/policy';
import { RE2JS } from 're2js';
import { WrongSettings } from '../errors.ts';

/** Regular expressions in RE2 syntax, case-insensitive, by what a line that matches means. */
export type PatternSources = {
  readonly rate_limit: readonly string[];
  readonly error: readonly string[];
  readonly fatal: readonly string[];
  readonly completion: readonly string[];
  /** the agent has its result; lines after it do not change that */
  readonly result: readonly string[];
  /** tested on the line that the cursor is in, while the terminal is still */
  readonly awaiting_input: readonly string[];
};
export type PatternKind = keyof PatternSources;

/** A bare 429, or "rate" inside a word, is not a rate limit. */
export const defaultPatterns: PatternSources = {
  rate_limit: [
    '\\brate[ _-]?limit',
    '\\b(http|status|error|code)\\W{0,3}429\\b',
    '\\b429 too many requests',
    '\\boverloaded(_error)?\\b',
  ],
  error: ['\\berror\\b', '\\bexception\\b', '\\bfatal\\b', '^traceback \\('],
  fatal: [],
  completion: ['<promise>COMPLETE</promise>'],
  result: [],
  awaiting_input: ['\\? $', '\\[y/n\\][: ]*$', '\\(y/n\\)[: ]*$'],
};

/** What a policy has its agents' output looked through for. */
export type PolicyPatterns = {
  readonly rate_limit: readonly Pattern[];
  readonly error: readonly Pattern[];
  readonly fatal: readonly Pattern[];
  readonly completion: readonly Pattern[];
  /** how many of the last lines go with each heartbeat; 0: none */
  readonly tailLines: number;
};

export type Match = { readonly kind: PatternKind; readonly source: string };
export type Patterns = {
  /** what a whole line means */
  readonly matches: (line: string) => readonly Match[];
  /** whether a line counts among repeated errors: by the template, under any policy */
  readonly isError: (line: string) => boolean;
  readonly isResult: (line: string) => boolean;
  /** whether the line with the cursor in it requests an answer */
  readonly asks: (cursorLine: string) => boolean;
};

const compile = (source: string, kind: PatternKind): RE2JS => {
  try {
    return RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    throw new WrongSettings(`the ${kind} pattern ${JSON.stringify(source)} is not RE2 syntax: ${String(error)}`);
  }
};

const judgedKinds = ['rate_limit', 'error', 'fatal', 'completion'] as const;
type JudgedKind = (typeof judgedKinds)[number];
type Looked = Match & { readonly isIn: (line: string) => boolean };

const written = (kind: PatternKind, sources: readonly string[]): readonly Looked[] =>
  sources.map((source) => {
    const re = compile(source, kind);
    return { kind, source, isIn: (line) => re.test(line) };
  });

/** Whether one of the patterns is in a line, by one search. Most lines have none. */
const anyOf = (sources: readonly string[], kind: PatternKind): ((line: string) => boolean) => {
  if (sources.length === 0) return () => false;
  // One by one first, so that an error names the wrong one.
  const wholes = sources.map((source) => `(?:${compile(source, kind).pattern()})`);
  const re = compile(wholes.join('|'), kind);
  return (line) => re.test(line);
};

/** Under a policy, built-in patterns give way to its own, and what a template calls an error is reported only where the policy requests it. */
const besidePolicy = (kind: JudgedKind, sources: PatternSources): readonly string[] =>
  kind === 'error' || kind === 'fatal' ? [] : sources[kind].filter((source) => !defaultPatterns[kind].includes(source));

type Search = { readonly isAnyIn: (line: string) => boolean; readonly patterns: readonly Looked[] };

/** The patterns of the policy are searched one by one: each has flags of its own. */
const judged = (kind: JudgedKind, sources: PatternSources, policy: PolicyPatterns | null): readonly Search[] => {
  const own = policy === null ? sources[kind] : besidePolicy(kind, sources);
  const asked = (policy?.[kind] ?? []).map(
    (one): Looked => ({ kind, source: one.source, isIn: (line) => one.isIn(line) }),
  );
  return [
    { isAnyIn: () => asked.length > 0, patterns: asked },
    { isAnyIn: anyOf(own, kind), patterns: written(kind, own) },
  ];
};

/**
 * `policy`: what the agent's policy requests; null: it is not known (yet).
 * @throws WrongSettings naming the template's pattern that RE2 does not take
 */
export const compilePatterns = (sources: PatternSources, policy: PolicyPatterns | null = null): Patterns => {
  const searches = judgedKinds.flatMap((kind) => judged(kind, sources, policy));
  return {
    matches: (line) =>
      searches
        .filter(({ isAnyIn }) => isAnyIn(line))
        .flatMap(({ patterns }) => patterns.filter(({ isIn }) => isIn(line)))
        .map(({ kind, source }) => ({ kind, source })),
    isError: anyOf(sources.error, 'error'),
    isResult: anyOf(sources.result, 'result'),
    asks: anyOf(sources.awaiting_input, 'awaiting_input'),
  };
};

/** The same for lines that differ in digits and long hexadecimal only, such as times, pids and addresses. */
export const errorHash = (line: string): string => {
  const masked = line
    .replace(/\b(0x)?[0-9a-f]{8,}\b/gi, '#')
    .replace(/\d+/g, '#')
    .trim();
  return createHash('sha256').update(masked).digest('hex').slice(0, 16);
};
