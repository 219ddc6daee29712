import { createHash } from 'node:crypto';
import { inAnyCase, type Pattern } from '@vigil/policy';
import { RE2Set } from 're2js';
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
  /** what kind of error a line is, by the template, under any policy; null: none */
  readonly errorKind: (line: string) => 'error' | 'fatal' | null;
  readonly isResult: (line: string) => boolean;
  /** whether the line with the cursor in it requests an answer */
  readonly asks: (cursorLine: string) => boolean;
};

const judgedKinds = ['rate_limit', 'error', 'fatal', 'completion'] as const;
type JudgedKind = (typeof judgedKinds)[number];
/** `expression`: the source with its flags. */
type Sought = Match & { readonly expression: string };

const written = (kind: PatternKind, sources: readonly string[]): readonly Sought[] =>
  sources.map((source) => ({ kind, source, expression: inAnyCase(source) }));

/** Under a policy, built-in patterns give way to its own, and what a template calls an error is reported only where the policy requests it. */
const besidePolicy = (kind: JudgedKind, sources: PatternSources): readonly string[] =>
  kind === 'error' || kind === 'fatal' ? [] : sources[kind].filter((source) => !defaultPatterns[kind].includes(source));

const judged = (kind: JudgedKind, sources: PatternSources, policy: PolicyPatterns | null): readonly Sought[] => {
  if (policy === null) return written(kind, sources[kind]);
  const asked = policy[kind].map(({ source, expression }): Sought => ({ kind, source, expression }));
  return [...asked, ...written(kind, besidePolicy(kind, sources))];
};

/** Searches a line for all patterns at once: one at a time takes twenty times as long, while other agents wait. */
const searchFor = (sought: readonly Sought[]): ((line: string) => readonly Match[]) => {
  const set = new RE2Set(RE2Set.UNANCHORED);
  for (const { kind, source, expression } of sought) {
    try {
      set.add(expression);
    } catch (error) {
      throw new WrongSettings(`the ${kind} pattern ${JSON.stringify(source)} is not RE2 syntax: ${String(error)}`);
    }
  }
  set.compile();
  return (line) => {
    const found = new Set(set.match(line));
    return sought.filter((_, index) => found.has(index)).map(({ kind, source }) => ({ kind, source }));
  };
};

/**
 * `policy`: what the agent's policy requests; null: it is not known (yet).
 * @throws WrongSettings naming the template's pattern that RE2 does not take
 */
export const compilePatterns = (sources: PatternSources, policy: PolicyPatterns | null = null): Patterns => {
  const anyOf = (kind: PatternKind) => {
    const search = searchFor(written(kind, sources[kind]));
    return (line: string): boolean => search(line).length > 0;
  };
  const [isError, isFatal] = [anyOf('error'), anyOf('fatal')];
  return {
    matches: searchFor(judgedKinds.flatMap((kind) => judged(kind, sources, policy))),
    isError,
    errorKind: (line) => (isFatal(line) ? 'fatal' : isError(line) ? 'error' : null),
    isResult: anyOf('result'),
    asks: anyOf('awaiting_input'),
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
