import type { Heartbeat, Receipt } from '../moment.ts';

/** The shortest time over which a rate is measured. */
const SAMPLE_MS = 60_000;
/** The number of rates that are stored. A median uses at least `LEAST_SAMPLES` and at most `MOST_SAMPLES` of them. */
export const LEAST_SAMPLES = 4;
export const MOST_SAMPLES = 6;
/** A rate below this multiple of the median is stored only as a rate. */
export const LEAST_FACTOR = 2;
/** The longest pause within continued use. */
const PAUSE_MS = 600_000;

/** A rate far above the previous ones, in tokens a minute. `samples`: the number of samples of the median. */
export type Spike = {
  readonly rate: number;
  readonly median: number;
  readonly samples: number;
  readonly mark: number;
  /** the number of rates since; absent: none */
  readonly later?: number;
  /** whether there was progress with it or since; absent: there was none */
  readonly progressed?: true;
};

/** Use of tokens, by the cumulative count. */
export type Tokens = {
  /** the last count; 0 also if none was sent */
  readonly count: number;
  /** whether a count was sent, also 0 */
  readonly counted: boolean;
  /** mark of the last use; null if the last heartbeat reported use */
  readonly unusedSince: number | null;
  /** whether the last heartbeat had a count; the use since an unknown count is unknown, too */
  readonly known: boolean;
  /** mark at which use resumed after a pause; null without a pause */
  readonly resumed: number | null;
  /** the start of the present sample: its time on `now`'s axis, the lag of the sender's clock, and the count */
  readonly sampleAt: number;
  readonly sampleLate: number;
  readonly sampleCount: number;
  /** tokens a minute, during use; the newest last */
  readonly rates: readonly number[];
  /**
   * Spikes, those without later progress and the others, each without those that another of them exceeds in both samples
   * and ratio. One with later progress is kept as long as its rate.
   */
  readonly spikes: readonly Spike[];
};

export const NO_TOKENS: Tokens = {
  count: 0,
  counted: false,
  unusedSince: null,
  known: true,
  resumed: null,
  sampleAt: 0,
  sampleLate: 0,
  sampleCount: 0,
  rates: [],
  spikes: [],
};

/**
 * The context of a heartbeat's count. `progressed`: whether there is progress, which ends a spike; `isAnother`: whether
 * the count is that of another session; `previousLate`: the delay of the previous heartbeat.
 */
type TokenContext = {
  readonly progressed: boolean;
  readonly isAnother: boolean;
  readonly previousLate: number;
  readonly receipt: Receipt;
};

export const tokensAfter = (before: Tokens, { token_count: count }: Heartbeat, context: TokenContext): Tokens => {
  const calm = context.progressed && before.spikes.some((s) => !s.progressed) ? withProgress(before) : before;
  if (count === null) return unknown(calm, context.receipt);
  return countAfter(calm.counted ? calm : { ...calm, counted: true }, count, context);
};

/** Mark of the last use, after this receipt; 0: none. */
export const lastUse = ({ count, unusedSince }: Tokens, { watched }: Receipt): number =>
  count > 0 ? (unusedSince ?? watched) : 0;

const countAfter = (before: Tokens, count: number, context: TokenContext): Tokens => {
  const unusedSince = count > 0 ? usedUntil(before, context.receipt) : null;
  const beginsAgain = before.count > 0 && (context.isAnother || count < before.count);
  if (beginsAgain) return { ...begun(before, count, context.receipt), known: true, unusedSince };
  if (!before.known) return counted(before, count, context.receipt);
  if (count > before.count) return used(before, count, context);
  return unusedSince === before.unusedSince ? before : { ...before, unusedSince };
};

/** Ends use at its last known mark. */
const unknown = (before: Tokens, receipt: Receipt): Tokens => {
  if (!before.known || before.count <= 0) return before;
  return { ...before, known: false, unusedSince: usedUntil(before, receipt) };
};

/** Begins a sample when the count is known again, because the times of the use in between are unknown. */
const counted = (before: Tokens, count: number, receipt: Receipt): Tokens => {
  const used = count > before.count;
  const after = used ? { ...begun(before, count, receipt), unusedSince: null, resumed: receipt.watched } : before;
  return { ...after, count, known: true };
};

/** Mark of the last use before this heartbeat. */
const usedUntil = (before: Tokens, { previous, watched }: Receipt): number =>
  before.unusedSince ?? previous?.watched ?? watched;

const used = (before: Tokens, count: number, context: TokenContext): Tokens => {
  const { previous, watched } = context.receipt;
  const gap = watched - usedUntil(before, context.receipt);
  const first = before.count <= 0;
  const resumed = previous !== null && (first || gap > PAUSE_MS) ? watched : before.resumed;
  if (first) return { ...begun(before, count, context.receipt), unusedSince: null, resumed };
  const after = { ...before, count, unusedSince: null, resumed };
  if (previous === null || before.unusedSince === null || gap <= SAMPLE_MS) return sampled(after, context);
  const sample = { sampleAt: previous.now, sampleLate: context.previousLate, sampleCount: before.count };
  return sampled({ ...after, ...sample }, context);
};

/** Restarts the count of an agent that has never counted, that counts from zero again, or whose session has changed. */
const begun = (before: Tokens, count: number, { now, stamp }: Receipt): Tokens => ({
  ...before,
  count,
  sampleAt: now,
  sampleLate: now - stamp,
  sampleCount: count,
});

/** Uses the longer span of both clocks, so that delayed heartbeats that arrive together are not a spike. */
const sampled = (tokens: Tokens, { progressed, receipt }: TokenContext): Tokens => {
  const { now, stamp, watched } = receipt;
  const elapsed = Math.max(now - tokens.sampleAt, stamp - (tokens.sampleAt - tokens.sampleLate));
  if (elapsed < SAMPLE_MS) return tokens;
  const fresh = begun(tokens, tokens.count, receipt);
  const rate = Math.round(((tokens.count - tokens.sampleCount) / elapsed) * SAMPLE_MS);
  if (!(rate > 0)) return fresh;
  const rates = [...tokens.rates.slice(1 - MOST_SAMPLES), rate];
  return { ...fresh, rates, spikes: spikesAfter(tokens, rate, watched, progressed) };
};

const withProgress = (tokens: Tokens): Tokens => {
  const spikes = tokens.spikes.map((spike): Spike => ({ ...spike, progressed: true }));
  return { ...tokens, spikes: spikes.filter(isRecent).reduce<readonly Spike[]>(added, []) };
};

/** Whether the rate of the spike is still among the stored ones. */
export const isRecent = ({ later = 0 }: Spike): boolean => later < MOST_SAMPLES;

const spikesAfter = ({ rates, spikes }: Tokens, rate: number, mark: number, progressed: boolean): readonly Spike[] => {
  const samples = rates.length;
  const median = medianOf(rates);
  const older = spikes.length === 0 ? spikes : spikes.map(followed).filter((s) => !s.progressed || isRecent(s));
  if (samples < LEAST_SAMPLES || rate <= LEAST_FACTOR * median) return older;
  const spike = { rate, median, samples, mark };
  return added(older, progressed ? { ...spike, progressed } : spike);
};

const followed = (spike: Spike): Spike => ({ ...spike, later: Math.min((spike.later ?? 0) + 1, MOST_SAMPLES) });

const added = (spikes: readonly Spike[], spike: Spike): readonly Spike[] => {
  const ratio = spike.rate / spike.median;
  const isSame = (s: Spike): boolean => s.progressed === spike.progressed;
  if (spikes.some((s) => isSame(s) && s.samples >= spike.samples && s.rate / s.median >= ratio)) return spikes;
  return [...spikes.filter((s) => !isSame(s) || s.rate / s.median > ratio), spike];
};

/** The median; 0 without samples. */
export const medianOf = (rates: readonly number[]): number => {
  const middle = rates.length >> 1;
  const upper = ranked(rates, middle);
  return rates.length % 2 === 1 ? upper : (ranked(rates, middle - 1) + upper) / 2;
};

/** The value at `rank` in sorted order. Each judgement calls it, so it neither sorts nor allocates. */
const ranked = (rates: readonly number[], rank: number): number => {
  for (const rate of rates) {
    let below = 0;
    let same = 0;
    for (const other of rates) {
      if (other < rate) below += 1;
      else if (other === rate) same += 1;
    }
    if (below <= rank && rank < below + same) return rate;
  }
  return 0;
};
