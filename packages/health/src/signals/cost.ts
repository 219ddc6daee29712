import { duration, spell } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import type { History } from '../history/history.ts';
import type { Judging } from '../history/moment.ts';
import { lastWaitEnd, waitedBetween } from '../history/presence/waits.ts';
import { isRecent, LEAST_FACTOR, LEAST_SAMPLES, MOST_SAMPLES, medianOf, type Spike } from '../history/usage/tokens.ts';
import { type AnySignal, absentFrom, momentOf, signal, spelled } from './signal.ts';

const spikeLimits = z.strictObject({
  factor: z.number().min(LEAST_FACTOR).default(5),
  min_samples: z.int().min(LEAST_SAMPLES).max(MOST_SAMPLES).default(5),
  /** false: it ends when six rates have followed, with or without progress, or while `unless: steady_tokens` quiets it */
  ends_with_progress: z.boolean().default(true),
});
type SpikeLimits = z.output<typeof spikeLimits>;

/** Tokens a minute far above the agent's usual rate. Ends with progress, or when later rates have replaced it. */
export const tokenSpike: AnySignal = signal(spikeLimits, {
  axis: 'cost',
  awaits: ['change'],
  reevaluateEveryHeartbeat: true,
  firesFrom: (h, limits, at) => {
    const spike = spikeOf(h, limits, at);
    return spike ? momentOf(spike.mark, at) : NEVER;
  },
  evidence: (h, limits, at) => {
    const spike = spikeOf(h, limits, at);
    const rate = spike?.rate ?? h.tokens.rates.at(-1) ?? null;
    const isUsualKnown = spike !== null || h.tokens.rates.length >= limits.min_samples;
    if (!isUsualKnown) {
      const words = `${rate ?? 'unknown'} tokens a minute; no limit before ${limits.min_samples} rates are known`;
      return { value: rate, limit: null, words, hard: false };
    }
    const limit = limits.factor * (spike?.median ?? medianOf(h.tokens.rates));
    const words = `${rate ?? 'unknown'} tokens a minute; limit ${Math.round(limit)}, ${limits.factor} times its median`;
    return { value: rate, limit, words, hard: false };
  },
  finding: (h, limits, at) => {
    const spike = spikeOf(h, limits, at);
    return `You have used ${spike?.rate ?? 'more'} tokens a minute, far more than your usual ${spike?.median ?? 'rate'}.`;
  },
  advice: 'Work in smaller steps and read only what you need.',
});

/** The first spike that counts; use during an exemption does not. */
const spikeOf = ({ tokens }: History, limits: SpikeLimits, { floor, waits, kinds }: Judging): Spike | null => {
  const excusedTo = Math.max(floor, lastWaitEnd(waits, kinds));
  const holds = (s: Spike): boolean => (limits.ends_with_progress ? s.progressed !== true : isRecent(s));
  const isHigh = (s: Spike): boolean => s.samples >= limits.min_samples && s.rate > limits.factor * s.median;
  return tokens.spikes.find((s) => holds(s) && isHigh(s) && s.mark > excusedTo) ?? null;
};

const burnLimits = z.strictObject({ for: duration });

/** Tokens are still used after this long without progress. */
export const tokenBurn: AnySignal = signal(burnLimits, {
  axis: 'cost',
  awaits: ['change'],
  reevaluateEveryHeartbeat: true,
  firesFrom: (h, limits, at) => {
    const { from, ms } = burning(h, at);
    return ms > limits.for ? absentFrom(from, limits.for, at) : NEVER;
  },
  evidence: (h, limits, at) => {
    if (h.tokens.count <= 0) return { value: null, limit: limits.for, words: 'no use of tokens reported', hard: false };
    const { ms } = burning(h, at);
    const words = `tokens used for ${spell(ms)} without progress; limit ${spell(limits.for)}`;
    return { value: ms, limit: limits.for, isDuration: true, words, hard: false };
  },
  finding: (h, _, at) => {
    const { ms } = burning(h, at);
    return `You have used tokens for ${spelled(ms)} without progress.`;
  },
  advice: 'Write down what you know, decide on one next step and take it, or ask for a handoff.',
});

/**
 * `from`: the mark of the last progress, or from where use began again after a pause or with new work. `ms`: the time
 * from then to the last use, without the waits in it.
 */
const burning = (
  { tokens, progress, lastReceipt, started }: History,
  { floor, waits, kinds }: Judging,
): { readonly from: number; readonly ms: number } => {
  const from = Math.max(started.watched, progress.at - progress.lag, tokens.resumed ?? 0, floor);
  const to = tokens.count > 0 ? (tokens.unusedSince ?? lastReceipt.watched) : from;
  return { from, ms: Math.max(0, to - from - waitedBetween(waits, kinds, from, to)) };
};

const contextLimits = z.strictObject({
  /** used / max, such as 0.8 */
  above: z.number().gt(0).lt(1),
  /** the longest duration of a handoff; 0: a handoff excuses nothing */
  handoff: duration.default(600_000),
});

/** Little of the context is left, and no handoff is under way. */
export const contextExhausted: AnySignal = signal(contextLimits, {
  axis: 'cost',
  awaits: [],
  by: 'context',
  firesFrom: ({ context, activity }, limits) => {
    if (context.ratio === null || context.ratio <= limits.above) return NEVER;
    const handing = activity.value === 'handing_off' ? (activity.handOff?.at ?? activity.since) : null;
    const since = Math.max(handing ?? 0, context.handoffAt ?? 0);
    return since === 0 || limits.handoff === 0 ? context.at : Math.max(context.at, since + limits.handoff + 1);
  },
  evidence: ({ context: { ratio } }, { above }) => ({
    value: ratio,
    limit: above,
    words:
      ratio === null ? 'context: never reported' : `${percent(ratio)} of the context used; limit ${percent(above)}`,
    hard: false,
  }),
  finding: ({ context: { ratio } }) =>
    `You have used ${ratio === null ? 'nearly all' : percent(ratio)} of your context.`,
  advice: 'Write a checkpoint with the work done and the work left, and ask for a handoff.',
});

const percent = (ratio: number): string => `${Math.round(ratio * 1000) / 10} %`;
