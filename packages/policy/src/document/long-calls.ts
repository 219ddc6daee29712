import { z } from 'zod';
import { duration } from '../values/duration-type.ts';

/** The settings by which a call with a long declared deadline extends a limit of inactivity. */
export const longCalls = {
  /** tools whose declared deadline extends the limit */
  applies_to: z.array(z.string()).default([]),
  buffer: duration.default(60_000),
  deadlines_above: duration.default(120_000),
};
type LongCalls = z.output<z.ZodObject<typeof longCalls>> & { readonly after: number };

/** `spanMs`: from the start of the call to its deadline; null: it has none. */
type Call = { readonly tool: string | null; readonly spanMs: number | null };

/** The limit of inactivity after this call, milliseconds. */
export const limitAfter = ({ tool, spanMs }: Call, limits: LongCalls): number => {
  if (tool === null || !limits.applies_to.includes(tool)) return limits.after;
  if (spanMs === null || spanMs <= limits.deadlines_above) return limits.after;
  return Math.max(limits.after, spanMs + limits.buffer);
};
