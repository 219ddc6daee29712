import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KNOWN } from './known.ts';
import { laws } from './laws.ts';
import { stories } from './stories.ts';
import { asTest, play, type Story } from './story.ts';

const isLong = process.env.VIGIL_SOAK === '1';
const runs = Number(process.env.VIGIL_STORIES ?? (isLong ? 100_000 : 300));
const seed = Number(process.env.VIGIL_SEED ?? 20_261_123);

test(
  `no law is broken in ${runs} random stories (VIGIL_SEED=${seed})`,
  () => {
    const outcome = fc.check(
      fc.property(stories, (story) => void play(story, laws())),
      { numRuns: runs, seed, examples: [...KNOWN] as [Story][] },
    );
    const [story] = outcome.counterexample ?? [];
    const error = outcome.errorInstance as Error | null;
    expect.soft(story && `${error?.message}\n${asTest(story, error?.message ?? '')}\n${error?.stack}`).toBeUndefined();
  },
  10 * 3_600_000,
);
