import type { Knowledge } from '@vigil/read-model';
import { z } from 'zod';

/** Epoch milliseconds as RFC 3339. */
export const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** How old a result is: a field of each tool that shows states. */
export const knowledgeShape = z
  .object({
    up_to: z.string().nullable().describe('the time up to which events are known'),
    blind_since: z.string().nullable().describe('since when Vigil sees nothing new; null: the result is current'),
    away: z.array(z.object({ part: z.string(), since: z.string().nullable(), detail: z.string() })),
  })
  .describe('how old the result is, and the parts of Vigil that do not answer');

export const knowledgeOf = ({ upTo, blindSince, away }: Knowledge): z.output<typeof knowledgeShape> => ({
  up_to: time(upTo),
  blind_since: time(blindSince),
  away: away.map(({ part, since, detail }) => ({ part, since: time(since), detail })),
});

export const isCurrent = ({ blindSince }: Knowledge): boolean => blindSince === null;

/** A state as it is now; while Vigil is blind, as it was. */
export const stateText = (state: string, knowledge: Knowledge): string =>
  isCurrent(knowledge) ? state : `was ${state}`;
