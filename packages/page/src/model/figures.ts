import { spell } from '@vigil/policy';
import type { AgentRow, FiguresResult, HistoryRow, SignalFigure } from '@vigil/read-model';
import type { Known } from './knowledge.ts';
import { ageText } from './time.ts';

/** What a signal's figure was at a moment, epoch milliseconds. */
export type Sample = { readonly at: number; readonly value: number };

/** A signal's figure over time, with its limit. */
export type FigureLine = {
  /** `value` null: the line has a gap there */
  readonly past: readonly { readonly at: number; readonly value: number | null }[];
  readonly limit: number | null;
};

const MOST_SAMPLES = 500;

/** The figures at the changes of state that they caused, oldest first. `history`: newest first, as the API has it. */
export const storedSamples = (history: readonly HistoryRow[], signal: string): readonly Sample[] =>
  history.toReversed().flatMap(({ at, evidence }) => {
    const found = evidence.find((one) => one.signal === signal);
    return found === undefined || found.value === null ? [] : [{ at, value: found.value }];
  });

/** The samples with the present figures of all signals, as often as the page has seen them. */
export const withSamples = (
  before: ReadonlyMap<string, readonly Sample[]>,
  signals: readonly SignalFigure[],
  at: number,
): ReadonlyMap<string, readonly Sample[]> => {
  const now = new Map(before);
  for (const { signal, value } of signals)
    if (value !== null) now.set(signal, [...(before.get(signal) ?? []), { at, value }].slice(-MOST_SAMPLES));
  return now;
};

/** Figure and expectation may be this far apart, milliseconds. */
const NEAR_MS = 15_000;

/** Whether the figure grows with the clock, and fires when it reaches its limit. */
const grows = ({ value, limit, firesFrom, isDuration }: SignalFigure, at: number): boolean =>
  isDuration &&
  value !== null &&
  limit !== null &&
  firesFrom !== null &&
  Math.abs(firesFrom - at - (limit - value)) < NEAR_MS;

/** A figure by itself: what it was until the next one is not known. */
const alone = (sample: Sample): FigureLine['past'] => [sample, { at: sample.at + 1, value: null }];

/** A time that had grown to this figure. */
const rampTo = (sample: Sample): FigureLine['past'] => [{ at: sample.at - sample.value, value: 0 }, ...alone(sample)];

/** The lines of all signals, by name, as a replay has folded them. */
export const replayedLines = ({ at, signals }: FiguresResult): ReadonlyMap<string, FigureLine['past']> =>
  new Map(signals.map(({ signal, values }) => [signal, at.map((one, i) => ({ at: one, value: values[i] ?? null }))]));

/**
 * The line of a signal. `stored`: from changes of state; `seen`: by this page; `at`: when its present figure was read;
 * `replayed`: what a replay has folded; empty: nothing.
 */
export const lineOf = (
  signal: SignalFigure,
  stored: readonly Sample[],
  seen: readonly Sample[],
  at: number,
  replayed: FigureLine['past'],
): FigureLine => {
  const { value, limit, isDuration } = signal;
  const [first, last] = [replayed[0]?.at, replayed.at(-1)?.at];
  if (first !== undefined && last !== undefined) {
    const before = stored.filter((one) => one.at < first).flatMap(isDuration ? rampTo : alone);
    return { past: [...before, ...replayed, ...seen.filter((one) => one.at > last)], limit };
  }
  if (!isDuration) return { past: [...stored.flatMap(alone), ...seen], limit };
  if (value === null || !grows(signal, at)) return { past: [...stored.flatMap(rampTo), ...seen], limit };
  const begin = at - value;
  const earlier = stored.filter((one) => one.at <= begin).flatMap(rampTo);
  return { past: [...earlier, { at: begin, value: 0 }, ...seen.filter((one) => one.at > begin)], limit };
};

export const figureText = (value: number | null, isDuration: boolean): string => {
  if (value === null) return 'unknown';
  return isDuration ? spell(value) : value.toLocaleString('en-US', { maximumFractionDigits: 2 });
};

type KnownUntil = Pick<Known, 'isNow' | 'until'>;
type TimeText = (at: number) => string;

/** What was known, with times of the day: no count continues. */
const firedText = ({ fires, firesFrom, suspendedBy }: SignalFigure, until: number, timeText: TimeText): string => {
  const at = timeText(until);
  if (!fires && suspendedBy.length > 0) return `did not count at ${at}: ${suspendedBy.join(', ')}`;
  if (fires || (firesFrom !== null && firesFrom <= until)) return `was firing at ${at}`;
  return `was not firing at ${at}${firesFrom === null ? '' : `, due at ${timeText(firesFrom)}`}`;
};

/** `fires since 3 min 2 s`, `fires in 5 min 20 s`, or that it is not expected to. One that does not count now has no time. */
export const firesText = (signal: SignalFigure, { isNow, until }: KnownUntil, timeText: TimeText): string => {
  if (!isNow) return firedText(signal, until, timeText);
  const { fires, firesFrom, suspendedBy } = signal;
  if (!fires && suspendedBy.length > 0) return `does not count now: ${suspendedBy.join(', ')}`;
  if (firesFrom === null) return fires ? 'fires' : 'does not fire by time alone';
  return fires || firesFrom <= until
    ? `fires since ${ageText(until, firesFrom)}`
    : `fires in ${ageText(firesFrom, until)}`;
};

/** The signals to show. After the end of an agent only those that fire count, because the other figures grow with the clock and mean nothing. */
export const countedSignals = (
  signals: readonly SignalFigure[],
  { state }: Pick<AgentRow, 'state'>,
): readonly SignalFigure[] => (state === 'TERMINATED' ? signals.filter(({ fires }) => fires) : signals);

/** The chart in words. */
export const captionOf = (signal: SignalFigure, known: KnownUntil, timeText: TimeText): string =>
  `${signal.signal}: ${signal.words}; ${firesText(signal, known, timeText)}.`;

/** How far a figure is on its way to its limit; null: unknown. */
const ratioOf = ({ value, limit }: Pick<SignalFigure, 'value' | 'limit'>): number | null =>
  value === null || limit === null || limit <= 0 ? null : value / limit;

/** The same in per cent, at most 100. */
export const shareOf = (signal: Pick<SignalFigure, 'value' | 'limit'>): number | null => {
  const ratio = ratioOf(signal);
  return ratio === null ? null : Math.min(100, Math.round(ratio * 100));
};

/** Those that fire first, then those that are nearest to their limit. */
export const byNearest = (signals: readonly SignalFigure[]): readonly SignalFigure[] =>
  signals.toSorted(
    (one, other) =>
      Number(other.fires) - Number(one.fires) ||
      (ratioOf(other) ?? -1) - (ratioOf(one) ?? -1) ||
      (one.signal < other.signal ? -1 : 1),
  );

/** The signals that are drawn: all that count and have a figure. */
export const drawnSignals = (
  signals: readonly SignalFigure[],
  agent: Pick<AgentRow, 'state'>,
): readonly SignalFigure[] => byNearest(countedSignals(signals, agent)).filter(({ value }) => value !== null);
