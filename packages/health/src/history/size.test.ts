import { expect, test } from 'vitest';
import { FAILING_TOOLS, OPEN_CALLS } from './calls/calls.ts';
import { CLASSES, MOST_TIMES } from './calls/errors.ts';
import { REMEMBERED_RESULTS } from './calls/heartbeat-delta.ts';
import { LAST_CALLS, MOST_CALLS } from './calls/last-calls.ts';
import { RUNNING_CALLS } from './calls/reported-errors.ts';
import { MAX_CYCLE } from './calls/runs.ts';
import { NAME_CHARACTERS, TARGETS } from './calls/targets.ts';
import type { History } from './history.ts';
import { CLASS_CHARACTERS } from './presence/blocked.ts';
import { MATCHES } from './presence/matches.ts';
import { TEXT_CHARACTERS } from './presence/wait.ts';
import { MOST_WAITS } from './presence/waits.ts';
import { PHASE, REMEMBERED_SUCCESSES, SNIPPET } from './progress/progress-evidence.ts';
import { UNMADE, UNMADE_CHARACTERS } from './progress/proof.ts';
import { MOST } from './usage/limits.ts';
import { LONGEST_NAME, MOST_MODELS } from './usage/spend.ts';
import { LEAST_SAMPLES, MOST_SAMPLES } from './usage/tokens.ts';

/**
 * The largest size of each part as JSON, with ids of at most 64 characters. A part that is missing here does not
 * compile.
 */
const LARGEST_BYTES: Readonly<Record<keyof History, number>> = {
  identity: 480,
  axis: 100,
  started: 50,
  lastReceipt: 230,
  activity: 365,
  wait: TEXT_CHARACTERS * 2 + 140,
  waits: MOST_WAITS * 34 + 10,
  turn: 80,
  blocked: CLASS_CHARACTERS * 2 + 60,
  calls: OPEN_CALLS * 150 + FAILING_TOOLS * 74 + 300,
  made: 90,
  runs: 2 * (MAX_CYCLE * 16 + MAX_CYCLE * 6 + 180) + 540,
  errors: MOST_TIMES * 31 + MOST_TIMES * 9 + CLASSES * 42 + 150,
  targets: TARGETS * 34 + NAME_CHARACTERS + 70,
  outcomes: 70,
  reportedErrors: MOST_CALLS * 9 + RUNNING_CALLS * 6 + 150,
  callDiversity: LAST_CALLS * 6 + 40,
  matches: MATCHES * 62 + 40,
  breakers: 400,
  progress: REMEMBERED_RESULTS * 11 + 350,
  checkpoint: 720,
  rateLimit: 230,
  steps: 210,
  tokens: 200 + MOST_SAMPLES * 10 + 2 * (MOST_SAMPLES - LEAST_SAMPLES + 1) * 110,
  context: 90,
  spend: MOST_MODELS * (LONGEST_NAME + 140) + 110,
  output: 150,
  work: 290,
  notStarted: 30,
  proof: UNMADE * (UNMADE_CHARACTERS + 40) + 110,
  limits: MOST * 130,
  progressEvidence: SNIPPET + PHASE + REMEMBERED_SUCCESSES * 8 + 220,
  hold: 60,
  end: 150,
};

test('a state without its labels stays within 19 KB, with any reports', () => {
  const largest = Object.values(LARGEST_BYTES).reduce((sum, bytes) => sum + bytes, 0);
  const why =
    'the parts of a history have a limit together: make one smaller, or raise it and the memory of a partition in Kubernetes';
  expect(largest, why).toBeLessThanOrEqual(19_456);
});
