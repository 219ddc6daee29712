import { z } from 'zod';
import { parseDuration } from './duration.ts';

/** Milliseconds. A policy's document always has the unit, so that seconds are not mistaken for minutes. */
export const duration: z.ZodType<number> = z.unknown().transform((value, context) => {
  const ms = typeof value === 'string' ? parseDuration(value) : value === 0 ? 0 : null;
  if (ms !== null) return ms;
  context.addIssue({
    code: 'custom',
    message: `${value === undefined ? 'is missing' : `${JSON.stringify(value)} is not a duration`}: write one like 10m, 60s or 500ms`,
  });
  return z.NEVER;
});
