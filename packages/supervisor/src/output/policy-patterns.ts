import type { PolicyRef } from '@vigil/events';
import { type Pattern, pattern, patternInAnyCase } from '@vigil/policy';
import { z } from 'zod';
import type { Logger, MachineClock } from '../clock.ts';
import type { Gateway } from '../gateway/gateway-client.ts';
import { defaultPatterns, type PolicyPatterns } from './patterns.ts';

type PolicyPatternsDeps = {
  readonly gateway: Pick<Gateway, 'policy'>;
  readonly clock: MachineClock;
  readonly logger: Logger;
};

/** How long a request for a policy may take, and after how long a failed one is repeated, milliseconds. */
const PATIENCE_MS = 10_000;
const RETRY_AFTER_MS = 10_000;
/** Policies that are kept: more than one host's agents are judged by. */
const MAX_CACHED = 16;

type CachedPolicy = { readonly policyPatterns: PolicyPatterns; readonly document: unknown };

const served = z.object({ hash: z.string(), document: z.unknown() });

/** What each policy requests of this host, fetched once for all its agents. */
export class PolicyPatternCache {
  readonly #deps: PolicyPatternsDeps;
  readonly #cached = new Map<string, CachedPolicy>();
  readonly #asking = new Map<string, Promise<PolicyPatterns | null>>();
  #notBefore = 0;

  constructor(deps: PolicyPatternsDeps) {
    this.#deps = deps;
  }

  /** null: it is not available now; the caller keeps the previous one, and calls again. Never rejects. */
  of(policy: PolicyRef): Promise<PolicyPatterns | null> {
    const { hash } = policy;
    const cached = this.#cached.get(hash);
    if (cached !== undefined) return Promise.resolve(cached.policyPatterns);
    const under = this.#asking.get(hash);
    if (under !== undefined) return under;
    if (this.#deps.clock.monotonic() < this.#notBefore) return Promise.resolve(null);
    const asking = this.#fetch(policy).finally(() => this.#asking.delete(hash));
    this.#asking.set(hash, asking);
    return asking;
  }

  /** The document as it was served; plain JSON. undefined: it is not cached. */
  documentOf(hash: string): unknown {
    return this.#cached.get(hash)?.document;
  }

  async #fetch({ name, hash }: PolicyRef): Promise<PolicyPatterns | null> {
    const { gateway, clock, logger } = this.#deps;
    try {
      const answer = served.parse(await gateway.policy(name, AbortSignal.timeout(PATIENCE_MS)));
      if (answer.hash !== hash) throw new Error(`it has come as ${answer.hash}: another version`);
      const { policyPatterns, problems } = readPolicyPatterns(answer.document);
      if (problems.length > 0)
        logger('patterns of a policy cannot be compiled and are not used', { policy: name, hash, problems });
      this.#keep(hash, { policyPatterns, document: answer.document });
      return policyPatterns;
    } catch (error) {
      this.#notBefore = clock.monotonic() + RETRY_AFTER_MS;
      logger('a policy cannot be read; agents are watched as before', { policy: name, hash, error: String(error) });
      return null;
    }
  }

  #keep(hash: string, cached: CachedPolicy): void {
    this.#cached.set(hash, cached);
    const [oldest] = this.#cached.keys();
    if (this.#cached.size > MAX_CACHED && oldest !== undefined) this.#cached.delete(oldest);
  }
}

/** `problems`: what of the document is left out, and why. */
export type PolicyPatternsReading = { readonly policyPatterns: PolicyPatterns; readonly problems: readonly string[] };

/** Each costs time on every line of every agent. */
const MOST_PATTERNS = 100;
const LONGEST_PATTERN = 1000;
const MOST_PROBLEMS = 20;
const MOST_TAIL_LINES = 50;
/** Enough for the quotations of a ticket. */
const TICKET_LINES = 20;

const record = z.record(z.string(), z.unknown());
type Settings = z.output<typeof record>;
type Use = { readonly name: string; readonly signal: unknown; readonly settings: Settings };

const asRecord = (value: unknown): Settings => record.safeParse(value).data ?? {};

/** The signals that a policy's document uses. */
export const usesIn = (served: unknown): readonly Use[] => usesOf(asRecord(served));

const usesOf = (document: Settings): readonly Use[] =>
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
  if (typeof source === 'string' && source.length > LONGEST_PATTERN)
    return `a pattern of ${source.length} characters; at most ${LONGEST_PATTERN} are looked for`;
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
      const one = found.size === MOST_PATTERNS ? `more than ${MOST_PATTERNS} patterns` : read(source, reading);
      if (typeof one !== 'string') found.set(one.source, one);
      else if (problems.length < MOST_PROBLEMS) problems.push(`${where}: ${one}`);
    }
  }
  return [...found.values()];
};

const tailLinesOf = (document: Settings, looking: readonly Use[]): number => {
  const asked = looking
    .filter(({ settings: { patterns } }) => Array.isArray(patterns) && patterns.length > 0)
    .map(({ settings: { lines } }) => (Number.isInteger(lines) && Number(lines) > 0 ? Number(lines) : MOST_TAIL_LINES));
  const quoted = typeof document.ticket === 'object' && document.ticket !== null ? [TICKET_LINES] : [];
  return Math.min(MOST_TAIL_LINES, Math.max(0, ...asked, ...quoted));
};

/**
 * What a policy's document, as the gateway serves it, requires of a runtime. Every document has an answer; an omitted
 * field has the evaluator's default.
 * Case counts as in the evaluator: not in `rate_limited` and in the completion signal.
 */
export const readPolicyPatterns = (served: unknown): PolicyPatternsReading => {
  const document = asRecord(served);
  const uses = usesOf(document);
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
