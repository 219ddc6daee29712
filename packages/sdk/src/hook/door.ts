import type { Denial, Text } from './answer.ts';

/** What Vigil answers to a report. */
export type Answer = {
  readonly texts: readonly Text[];
  readonly denial: Denial | null;
  /** The texts have been passed on: without this word they count as uncertain, and are never repeated. */
  readonly told: () => Promise<void>;
};

export const nothing: Answer = { texts: [], denial: null, told: async () => {} };
