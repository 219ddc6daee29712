import { spell } from '@vigil/policy';
import type { AgentRow, HistoryRow, SignalFigure } from '@vigil/read-model';
import { ageText } from './time.ts';

/** What a signal's figure was at a moment, epoch milliseconds. */
export type Sample = { readonly at: number; readonly value: number };

/** A signal's figure over time, with its limit. */
export type FigureLine = {
  readonly past: readonly Sample[];
  /** where it goes, if nothing more is received; empty: it does not move by itself */
  readonly expected: readonly Sample[];
  readonly limit: number | null;
  /** whether the figure is in milliseconds */
  readonly isDuration: boolean;
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

/** The line of a signal. `at`: when its present figure was read. */
export const lineOf = (signal: SignalFigure, samples: readonly Sample[], at: number): FigureLine => {
  const { value, limit, firesFrom, isDuration } = signal;
  if (value === null || !grows(signal, at)) return { past: samples, expected: [], limit, isDuration };
  const past = [{ at: at - value, value: 0 }, ...samples.filter((one) => one.at > at - value)];
  const isAhead = firesFrom !== null && limit !== null && firesFrom > at;
  const expected = isAhead
    ? [
        { at, value },
        { at: firesFrom, value: limit },
      ]
    : [];
  return { past, expected, limit, isDuration };
};

export const figureText = (value: number | null, isDuration: boolean): string => {
  if (value === null) return 'unknown';
  return isDuration ? spell(value) : value.toLocaleString('en-US', { maximumFractionDigits: 2 });
};

/** `fires since 3 min 2 s`, `fires in 5 min 20 s`, or that it is not expected to. One that does not count now has no time. */
export const firesText = ({ fires, firesFrom, suspendedBy }: SignalFigure, now: number): string => {
  if (!fires && suspendedBy.length > 0) return `does not count now: ${suspendedBy.join(', ')}`;
  if (firesFrom === null) return fires ? 'fires' : 'does not fire by time alone';
  return fires || firesFrom <= now ? `fires since ${ageText(now, firesFrom)}` : `fires in ${ageText(firesFrom, now)}`;
};

/** The signals to show. After the end of an agent only those that fire count, because the other figures grow with the clock and mean nothing. */
export const countedSignals = (
  signals: readonly SignalFigure[],
  { state }: Pick<AgentRow, 'state'>,
): readonly SignalFigure[] => (state === 'TERMINATED' ? signals.filter(({ fires }) => fires) : signals);

/** The chart in words. */
export const captionOf = (signal: SignalFigure, now: number): string => {
  return `${signal.signal}: ${signal.words}; ${firesText(signal, now)}.`;
};

/** How far a figure is on its way to its limit, in per cent; null: unknown. */
export const shareOf = ({ value, limit }: Pick<SignalFigure, 'value' | 'limit'>): number | null =>
  value === null || limit === null || limit <= 0 ? null : Math.min(100, Math.round((value / limit) * 100));

/** Later than any time. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** Those that fire first, then those that will fire soonest, then by how near their limit they are. */
export const bySoonest = (signals: readonly SignalFigure[]): readonly SignalFigure[] =>
  signals.toSorted(
    (one, other) =>
      Number(other.fires) - Number(one.fires) ||
      (one.firesFrom ?? NEVER) - (other.firesFrom ?? NEVER) ||
      (shareOf(other) ?? -1) - (shareOf(one) ?? -1) ||
      (one.signal < other.signal ? -1 : 1),
  );
