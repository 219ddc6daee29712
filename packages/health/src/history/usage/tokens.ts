import type { Heartbeat, Receipt } from '../moment.ts';

/** A rate is taken over at least so long. */
const SAMPLE_MS = 60_000;
/** Rates that are remembered: at least `LEAST_SAMPLES`, at most `MOST_SAMPLES` of them make a median. */
export const LEAST_SAMPLES = 4;
export const MOST_SAMPLES = 6;
/** A rate below this many times the median is remembered as a rate only. */
export const LEAST_FACTOR = 2;
/** Use that begins again after a longer pause is not continued use. */
const PAUSE_MS = 600_000;

/** A rate far above those before it, in tokens a minute. `samples`: how many made the median. */
export type Spike = {
  readonly rate: number;
  readonly median: number;
  readonly samples: number;
  readonly mark: number;
};

/** Use of tokens, by the cumulative count. */
export type Tokens = {
  /** as sent last; 0: none counted so far, so nothing is known */
  readonly count: number;
  /** mark of the last use; null: the last heartbeat reported some */
  readonly unusedSince: number | null;
  /** the last heartbeat had a count: what was used since an unknown one is unknown, too */
  readonly known: boolean;
  /** mark at which use began again after a pause; null: there was none */
  readonly resumed: number | null;
  /** where the present sample begins: on `now`'s axis, how far the sender's clock was behind it, the count */
  readonly sampleAt: number;
  readonly sampleLate: number;
  readonly sampleCount: number;
  /** tokens a minute, while any were used; the newest last */
  readonly rates: readonly number[];
  /** since the last progress: those that no other has more samples and a higher ratio than */
  readonly spikes: readonly Spike[];
};

export const NO_TOKENS: Tokens = {
  count: 0,
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
 * What a heartbeat has besides its count. `progressed`: progress, which ends a spike; `isAnother`: the count is that of another session;
 * `previousLate`: how late the heartbeat before it was.
 */
type TokenContext = {
  readonly progressed: boolean;
  readonly isAnother: boolean;
  readonly previousLate: number;
  readonly receipt: Receipt;
};

export const tokensAfter = (before: Tokens, { token_count: count }: Heartbeat, context: TokenContext): Tokens => {
  const calm = context.progressed && before.spikes.length > 0 ? { ...before, spikes: [] } : before;
  if (count === null) return unknown(calm, context.receipt);
  const unusedSince = count > 0 ? usedUntil(before, context.receipt) : null;
  const beginsAgain = before.count > 0 && (context.isAnother || count < before.count);
  if (beginsAgain) return { ...begun(calm, count, context.receipt), known: true, unusedSince };
  if (!before.known) return counted(calm, count, context.receipt);
  if (count > before.count) return used(calm, count, context);
  return unusedSince === calm.unusedSince ? calm : { ...calm, unusedSince };
};

/** Use ends where it was last known. */
const unknown = (before: Tokens, receipt: Receipt): Tokens => {
  if (!before.known || before.count <= 0) return before;
  return { ...before, known: false, unusedSince: usedUntil(before, receipt) };
};

/** The count is known again: samples begin there, since the time of what was used meanwhile is unknown. */
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

/** The count starts again: for an agent that has never counted, that counts from zero again, or whose session has changed. */
const begun = (before: Tokens, count: number, { now, stamp }: Receipt): Tokens => ({
  ...before,
  count,
  sampleAt: now,
  sampleLate: now - stamp,
  sampleCount: count,
});

/** The longer of both clocks' spans counts: heartbeats that were held up and come at once are no spike. */
const sampled = (tokens: Tokens, { progressed, receipt }: TokenContext): Tokens => {
  const { now, stamp, watched } = receipt;
  const elapsed = Math.max(now - tokens.sampleAt, stamp - (tokens.sampleAt - tokens.sampleLate));
  if (elapsed < SAMPLE_MS) return tokens;
  const fresh = begun(tokens, tokens.count, receipt);
  const rate = Math.round(((tokens.count - tokens.sampleCount) / elapsed) * SAMPLE_MS);
  if (!(rate > 0)) return fresh;
  const rates = [...tokens.rates.slice(1 - MOST_SAMPLES), rate];
  return { ...fresh, rates, spikes: progressed ? [] : spikesAfter(tokens, rate, watched) };
};

const spikesAfter = ({ rates, spikes }: Tokens, rate: number, mark: number): readonly Spike[] => {
  const samples = rates.length;
  const median = medianOf(rates);
  if (samples < LEAST_SAMPLES || rate <= LEAST_FACTOR * median) return spikes;
  const ratio = rate / median;
  if (spikes.some((s) => s.samples >= samples && s.rate / s.median >= ratio)) return spikes;
  return [...spikes.filter((s) => s.rate / s.median > ratio), { rate, median, samples, mark }];
};

/** 0 for none. */
export const medianOf = (rates: readonly number[]): number => {
  const middle = rates.length >> 1;
  const upper = ranked(rates, middle);
  return rates.length % 2 === 1 ? upper : (ranked(rates, middle - 1) + upper) / 2;
};

/** The value that `rank` others come before: asked at every judgement, so nothing is sorted and nothing allocated. */
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
