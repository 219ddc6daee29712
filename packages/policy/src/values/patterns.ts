import { RE2JS } from 're2js';
import { z } from 'zod';

/** Vigil's own processes are never evaluated, under any policy: ids that are, or begin with, `vigil:` or `vigil.`, and `vigil` itself. */
const OWN = /^vigil(?:$|[:.])/;

/**
 * Whether the policy excludes this agent. It costs a pattern match, so it is called when a policy is assigned, not at
 * each heartbeat.
 */
export const excludes = (policy: { readonly exclude: readonly string[] }, agentId: string): boolean =>
  OWN.test(agentId) || policy.exclude.some((pattern) => RE2JS.compile(pattern).matcher(agentId).find());

/** Why a pattern is invalid, with the remedy; null if it is valid. */
const unreadablePattern = (pattern: string): string | null => {
  try {
    RE2JS.compile(pattern);
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `${JSON.stringify(pattern)} is not an RE2 pattern (${why}): correct or remove it`;
  }
};

/** For zod. It checks each text separately, so that one wrong entry does not hide another. */
export const readable = (pattern: string, { addIssue }: z.core.$RefinementCtx<string>): void => {
  const message = unreadablePattern(pattern);
  if (message !== null) addIssue({ code: 'custom', message });
};

/** The same pattern, matching in any case. */
export const inAnyCase = (source: string): string => `(?i)${source}`;

/** A pattern of a policy, compiled when the policy is read. Two of the same source are equal. */
export class Pattern {
  /** the pattern as the policy writes it, for reports of runtimes and for people */
  readonly source: string;
  readonly #re: RE2JS;

  constructor(source: string, flags: number) {
    this.source = source;
    this.#re = RE2JS.compile(source, flags);
  }

  /** The pattern with its flags, for a set of patterns. */
  get expression(): string {
    return (this.#re.flags() & RE2JS.CASE_INSENSITIVE) === 0 ? this.source : inAnyCase(this.source);
  }

  /** Whether it matches anywhere in the text. */
  isIn(text: string): boolean {
    return this.#re.test(text);
  }
}

const reading = (flags: number): z.ZodType<Pattern> =>
  z
    .string()
    .min(1)
    .transform((source, ctx) => {
      const why = unreadablePattern(source);
      if (why === null) return new Pattern(source, flags);
      ctx.issues.push({ code: 'custom', input: source, message: why });
      return z.NEVER;
    });

/** RE2, as it is written: `(?i)` for any case. */
export const pattern: z.ZodType<Pattern> = reading(0);
/** RE2, case-insensitive. */
export const patternInAnyCase: z.ZodType<Pattern> = reading(RE2JS.CASE_INSENSITIVE);
