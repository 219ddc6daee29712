import { RE2JS } from 're2js';
import { z } from 'zod';
import { unreadablePattern } from './exclude.ts';

/** A pattern of a policy, compiled when the policy is read. Two of the same source are equal. */
export class Pattern {
  /** as the policy spells it: what runtimes report, and people are shown */
  readonly source: string;
  readonly #re: RE2JS;

  constructor(source: string, flags: number) {
    this.source = source;
    this.#re = RE2JS.compile(source, flags);
  }

  /** Whether it is anywhere in the text. */
  isIn(text: string): boolean {
    return this.#re.test(text);
  }
}

function reading(flags: number): z.ZodType<Pattern> {
  return z
    .string()
    .min(1)
    .transform((source, ctx) => {
      const why = unreadablePattern(source);
      if (why === null) return new Pattern(source, flags);
      ctx.issues.push({ code: 'custom', input: source, message: why });
      return z.NEVER;
    });
}

/** RE2, as it is written: `(?i)` for any case. */
export const pattern: z.ZodType<Pattern> = reading(0);
/** RE2, in any case. */
export const patternInAnyCase: z.ZodType<Pattern> = reading(RE2JS.CASE_INSENSITIVE);
