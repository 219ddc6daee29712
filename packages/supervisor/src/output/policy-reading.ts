import { type Pattern, pattern, patternInAnyCase } from '@vigil/policy';
import { z } from 'zod';
import { defaultPatterns, type PolicyPatterns } from './patterns.ts';

/** `problems`: what of the document is left out, and why. */
export type PolicyPatternsReading = { readonly policyPatterns: PolicyPatterns; readonly problems: readonly string[] };

/** Each costs time on every line of every agent. */
const mostPatterns = 100;
const longestPattern = 1000;
const mostProblems = 20;
const mostTailLines = 50;
/** Enough for the quotations of a ticket. */
const ticketLines = 20;

const record = z.record(z.string(), z.unknown());
type Settings = z.output<typeof record>;
type Use = { readonly name: string; readonly signal: unknown; readonly settings: Settings };

const asRecord = (value: unknown): Settings => record.safeParse(value).data ?? {};

const usesIn = (document: Settings): readonly Use[] =>
  Object.entries(asRecord(document.signals)).map(([name, written]) => {
    const settings = asRecord(written);
    return { name, signal: settings.is ?? name, settings };
  });

const sourcesIn = (written: unknown, usual: readonly string[]): readonly unknown[] => {
  if (written === undefined || written === null) return usual;
  return Array.isArray(written) ? written : [written];
};

/** A pattern, or why it is not one. */
const read = (source: unknown, reading: z.ZodType<Pattern>): Pattern | string => {
  if (typeof source === 'string' && source.length > longestPattern)
    return `a pattern of ${source.length} characters; at most ${longestPattern} are looked for`;
  const { success, data, error } = reading.safeParse(source);
  return success ? data : error.issues.map(({ message }) => message).join('; ');
};

const listed = (
  uses: readonly Use[],
  setting: string,
  usual: readonly string[],
  reading: z.ZodType<Pattern>,
  problems: string[],
): readonly Pattern[] => {
  const found = new Map<string, Pattern>();
  for (const { name, settings } of uses) {
    const where = `signals.${name}.${setting}`;
    for (const source of sourcesIn(settings[setting], usual)) {
      const one = found.size === mostPatterns ? `more than ${mostPatterns} patterns` : read(source, reading);
      if (typeof one !== 'string') found.set(one.source, one);
      else if (problems.length < mostProblems) problems.push(`${where}: ${one}`);
    }
  }
  return [...found.values()];
};

const tailLinesOf = (document: Settings, looking: readonly Use[]): number => {
  const asked = looking
    .filter(({ settings: { patterns } }) => Array.isArray(patterns) && patterns.length > 0)
    .map(({ settings: { lines } }) => (Number.isInteger(lines) && Number(lines) > 0 ? Number(lines) : mostTailLines));
  const quoted = typeof document.ticket === 'object' && document.ticket !== null ? [ticketLines] : [];
  return Math.min(mostTailLines, Math.max(0, ...asked, ...quoted));
};

/**
 * What a policy's document, as the gateway serves it, requires of a runtime. Every document has an answer; an omitted
 * field has the evaluator's default.
 * Case counts as in the evaluator: not in `rate_limited` and in the completion signal.
 */
export const readPolicyPatterns = (served: unknown): PolicyPatternsReading => {
  const document = asRecord(served);
  const uses = usesIn(document);
  const of = (name: string) => uses.filter(({ signal }) => signal === name);
  const orUsual = (name: string): readonly Use[] => {
    const found = of(name);
    return found.length > 0 ? found : [{ name, signal: name, settings: {} }];
  };
  const problems: string[] = [];
  const { rate_limit, completion } = defaultPatterns;
  const [errors, fatal] = [of('error_pattern'), of('unrecoverable_error')];
  const policyPatterns = {
    rate_limit: listed(orUsual('rate_limited'), 'patterns', rate_limit, patternInAnyCase, problems),
    error: listed(errors, 'patterns', [], pattern, problems),
    fatal: listed(fatal, 'patterns', [], pattern, problems),
    completion: listed(orUsual('no_completion'), 'signal', completion, patternInAnyCase, problems),
    tailLines: tailLinesOf(document, [...errors, ...fatal]),
  };
  return { policyPatterns, problems };
};
