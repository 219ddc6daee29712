import { createHash } from 'node:crypto';
import { RE2JS } from 're2js';
import { WrongSettings } from './errors.ts';

/** Regular expressions in RE2 syntax, case-insensitive, by what a line that matches means. */
export type PatternSources = {
  readonly rate_limit: readonly string[];
  readonly error: readonly string[];
  readonly fatal: readonly string[];
  readonly completion: readonly string[];
  /** tested on the line that the cursor stands in, while the terminal is still */
  readonly awaiting_input: readonly string[];
};
export type PatternKind = keyof PatternSources;

/** A bare 429, or "rate" inside a word, is no rate limit. */
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
  awaiting_input: ['\\? $', '\\[y/n\\][: ]*$', '\\(y/n\\)[: ]*$'],
};

export type Match = { readonly kind: PatternKind; readonly source: string };
export type Patterns = {
  /** what a whole line means */
  readonly matches: (line: string) => readonly Match[];
  /** whether the line with the cursor in it asks for an answer */
  readonly asks: (cursorLine: string) => boolean;
};

const compile = (source: string, kind: PatternKind): RE2JS => {
  try {
    return RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    throw new WrongSettings(`the ${kind} pattern ${JSON.stringify(source)} is not RE2 syntax: ${String(error)}`);
  }
};

const ofLines: readonly PatternKind[] = ['rate_limit', 'error', 'fatal', 'completion'];

/** @throws WrongSettings naming the pattern that RE2 does not take */
export const compilePatterns = (sources: PatternSources): Patterns => {
  const lines = ofLines.flatMap((kind) => sources[kind].map((source) => ({ kind, source, re: compile(source, kind) })));
  const questions = sources.awaiting_input.map((source) => compile(source, 'awaiting_input'));
  return {
    matches: (line) => lines.filter(({ re }) => re.matcher(line).find()).map(({ kind, source }) => ({ kind, source })),
    asks: (cursorLine) => questions.some((re) => re.matcher(cursorLine).find()),
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
