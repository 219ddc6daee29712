import { duration, spell } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import { LAST_CALLS } from '../history/calls/last-calls.ts';
import { type Runs, repetitions } from '../history/calls/runs.ts';
import type { History } from '../history/history.ts';
import type { Judging } from '../history/moment.ts';
import { LEAST_SAMPLES, MOST_SAMPLES, medianOf } from '../history/usage/tokens.ts';
import { type AnySignal, type Figure, signal } from './signal.ts';

/** Counter-evidence is a sign of life. Without another one it expires after `within`. */
const within = duration.default(300_000);

/** A cycle of fewer calls than this is never diverse. */
const LEAST_DISTINCT = 6;

const diverseLimits = z.strictObject({
  /** of the last eight calls */
  distinct: z.int().min(LEAST_DISTINCT).max(LAST_CALLS).default(LEAST_DISTINCT),
  within,
});

/** A cycle of many calls is diverse, until it has come round this often. */
const ROUNDS = 3;
const isLongCycle = ({ exact: { same } }: Runs): boolean =>
  same.some((_, i) => i + 1 >= LEAST_DISTINCT && repetitions(same, i + 1) >= ROUNDS);

/** Calls that differ in tool or arguments. */
export const diverseCalls: AnySignal = signal(diverseLimits, {
  axis: 'fact',
  awaits: [],
  mitigating: true,
  firesFrom: ({ callDiversity: { calls, at }, runs }, l, { now }) =>
    calls.length >= l.distinct && now <= at + l.within && new Set(calls).size >= l.distinct && !isLongCycle(runs)
      ? at
      : NEVER,
  endsAt: ({ callDiversity }, l) => callDiversity.at + l.within + 1,
  evidence: ({ callDiversity: { calls, at } }, l, { now }) => {
    const value = new Set(calls).size;
    const ago = calls.length === 0 ? '' : `, the newest ${spell(Math.max(0, now - at))} old`;
    return speaking(value, l.distinct, `${value} different calls among the last ${calls.length}${ago}`, l.within);
  },
  finding: () => 'Your last calls differ from each other.',
  advice: 'Continue with your task.',
});

const steadyLimits = z.strictObject({
  samples: z.int().min(LEAST_SAMPLES).max(MOST_SAMPLES).default(LEAST_SAMPLES),
  /** each rate is at most this multiple of the median, and at least the inverse fraction */
  factor: z.number().min(1).default(2),
  within,
});
type Steady = z.output<typeof steadyLimits>;

/** When the last use is too old to count. Known use lasts until the last heartbeat. */
const usedUntil = ({ tokens, lastReceipt }: History, { within: after }: Steady, at: Judging): number =>
  at.now + ((tokens.unusedSince ?? lastReceipt.watched) + after + 1 - at.watched);

/** Tokens used at a rate that stays about the same. */
export const steadyTokens: AnySignal = signal(steadyLimits, {
  axis: 'fact',
  awaits: [],
  reevaluateEveryHeartbeat: true,
  mitigating: true,
  firesFrom: (h, l, at) => (isSteady(h, l) && at.now < usedUntil(h, l, at) ? h.tokens.sampleAt : NEVER),
  endsAt: usedUntil,
  evidence: ({ tokens: { rates } }, l) => {
    const last = rates.slice(-l.samples);
    const words = last.length === 0 ? 'no rate of tokens known' : `${last.join(', ')} tokens a minute`;
    return speaking(medianOf(last), null, words, l.within);
  },
  finding: () => 'You use tokens at a steady rate.',
  advice: 'Continue with your task.',
});

const isSteady = ({ tokens: { rates } }: History, { samples, factor }: Steady): boolean => {
  if (rates.length < samples) return false;
  const last = rates.slice(-samples);
  const median = medianOf(last);
  return last.every((rate) => rate <= median * factor && rate >= median / factor);
};

const speaking = (value: number, limit: number | null, words: string, during: number): Figure => ({
  value,
  limit,
  words: `${words}; counts for ${spell(during)}`,
  hard: false,
});
