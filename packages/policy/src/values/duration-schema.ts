import { z } from 'zod';
import { parseDuration } from './duration.ts';

/** Milliseconds in a policy's document: always with its unit, so that nobody mistakes seconds for minutes. */
export const duration: z.ZodType<number> = z.unknown().transform((value, context) => {
  const ms = typeof value === 'string' ? parseDuration(value) : value === 0 ? 0 : null;
  if (ms !== null) return ms;
  context.addIssue({
    code: 'custom',
    message: `${value === undefined ? 'is missing' : `${JSON.stringify(value)} is no duration`}: write one like 10m, 60s or 500ms`,
  });
  return z.NEVER;
});
