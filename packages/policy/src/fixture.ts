import { z } from 'zod';
import { loadPolicy } from './compile/compile.ts';
import type { CompiledPolicy, Vocabulary } from './compile/compiled.ts';
import { CorrectThePolicy } from './document/mistakes.ts';
import { duration } from './values/duration-type.ts';

/** For tests: a small vocabulary, policies from text, and their mistakes. */
export const VOCABULARY: Vocabulary = {
  signals: {
    no_activity: { axis: 'absence', limits: z.strictObject({ after: duration }) },
    looping: { axis: 'repetition', limits: z.strictObject({ times: z.int().default(5) }) },
  },
  exemptions: {
    idle: { limits: z.strictObject({}), suspends: ['absence'] },
    starting: { limits: z.strictObject({ grace: duration.default(5) }), suspends: ['absence'] },
  },
};

export const load = (text: string): CompiledPolicy => loadPolicy(text, 'test.yaml', VOCABULARY);

/** The mistakes that a function throws; an empty list if it throws none. */
export const mistakesOf = (read: () => unknown): readonly string[] => {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof CorrectThePolicy) return error.mistakes;
    throw error;
  }
};
