import type { TokenUsage } from '@vigil/events';
import type { SessionEvent, Usage } from '../session/events.ts';
import { ownOf } from '../shared/own.ts';

/** What a meter counts. The amounts of one reading may be negative: cached tokens are a part of the input tokens of some clients. */
export type Amounts = {
  readonly input_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  /** null: not counted */
  readonly usd: number | null;
};

/** What one data point or span counts of an agent's tokens or money. */
export type MeterReading = {
  /** the client's id of a sub-agent; null: the session's own agent */
  readonly agent: string | null;
  readonly source: 'metric' | 'span';
  /** the same reading, exported again, has the same */
  readonly id: string;
  /** readings that continue each other have the same */
  readonly series: string;
  /** epoch milliseconds */
  readonly at: number;
  /** since when a cumulative reading counts, epoch milliseconds; null: unknown */
  readonly startedAt: number | null;
  readonly isCumulative: boolean;
  readonly model: string | null;
  readonly amounts: Amounts;
};

type Series = { readonly startedAt: number | null; readonly at: number; readonly amounts: Amounts };
type Total = { readonly model: string | null; readonly amounts: Amounts };

/** What one source has counted. */
type Meter = {
  readonly totals: readonly Total[];
  readonly series: Readonly<Record<string, Series>>;
  /** readings that are not cumulative, the newest last */
  readonly counted: readonly string[];
};

/** What metrics and spans have counted of one agent. */
type Meters = Readonly<Record<MeterReading['source'], Meter>>;

const noMeter: Meter = { totals: [], series: {}, counted: [] };
const noMeters: Meters = { metric: noMeter, span: noMeter };

/** Remembered, so that a reading that is exported again does not count again. */
const MOST_COUNTED = 500;
const MOST_SERIES = 200;
/** More models than a session has: the others count without a name. */
const MOST_MODELS = 50;
/** Sub-agents whose meters are remembered; of more, those that were metered first are forgotten. */
const MOST_AGENTS = 100;

export const noAmounts: Amounts = {
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  usd: null,
};

const combined = (one: Amounts, other: Amounts, sign: 1 | -1): Amounts => ({
  input_tokens: one.input_tokens + sign * other.input_tokens,
  cache_read_tokens: one.cache_read_tokens + sign * other.cache_read_tokens,
  cache_write_tokens: one.cache_write_tokens + sign * other.cache_write_tokens,
  output_tokens: one.output_tokens + sign * other.output_tokens,
  usd: one.usd === null && other.usd === null ? null : (one.usd ?? 0) + sign * (other.usd ?? 0),
});

const added = (meter: Meter, { model: name, amounts }: Total): Meter => {
  const isNamed = meter.totals.length < MOST_MODELS || meter.totals.some(({ model }) => model === name);
  const model = isNamed ? name : null;
  const known = meter.totals.find((one) => one.model === model);
  if (known === undefined) return { ...meter, totals: [...meter.totals, { model, amounts }] };
  const sum = { model, amounts: combined(known.amounts, amounts, 1) };
  return { ...meter, totals: meter.totals.map((one) => (one === known ? sum : one)) };
};

/** A counter only grows: one that has become smaller has started again. */
const hasStartedAgain = (before: Series, { startedAt, amounts }: MeterReading): boolean => {
  if (startedAt !== before.startedAt) return true;
  const sizes = ({ usd, ...tokens }: Amounts): readonly number[] => [...Object.values(tokens), usd ?? 0].map(Math.abs);
  const [old, now] = [sizes(before.amounts), sizes(amounts)];
  return now.some((size, index) => size < (old[index] ?? 0));
};

/**
 * What a cumulative reading adds. The first of a series counts whole where the series began after the agent was first heard of; of an
 * older one it is not known whose the earlier tokens are. Null: nothing.
 */
const increase = (before: Series | undefined, reading: MeterReading, heardAt: number): Amounts | null => {
  const { startedAt, amounts } = reading;
  if (before !== undefined && !hasStartedAgain(before, reading)) return combined(amounts, before.amounts, -1);
  if (before !== undefined && startedAt === before.startedAt) return amounts;
  return startedAt !== null && startedAt >= heardAt ? amounts : null;
};

const isOutdated = (before: Series | undefined, { at, startedAt }: MeterReading): boolean =>
  before !== undefined && (at <= before.at || (startedAt ?? at) < (before.startedAt ?? 0));

const readCumulative = (meter: Meter, reading: MeterReading, heardAt: number): Meter => {
  const { series, startedAt, at, amounts, model } = reading;
  const before = ownOf(meter.series, series);
  if (isOutdated(before, reading)) return meter;
  const more = increase(before, reading, heardAt);
  const { [series]: _, ...others } = meter.series;
  const kept = Object.entries(others).slice(-(MOST_SERIES - 1));
  const after = { ...meter, series: { ...Object.fromEntries(kept), [series]: { startedAt, at, amounts } } };
  return more === null ? after : added(after, { model, amounts: more });
};

const readIncrement = (meter: Meter, { id, model, amounts }: MeterReading): Meter =>
  meter.counted.includes(id)
    ? meter
    : added({ ...meter, counted: [...meter.counted, id].slice(-MOST_COUNTED) }, { model, amounts });

/** `heardAt`: when the agent was first heard of, epoch milliseconds. */
const readMeter = (meters: Meters, reading: MeterReading, heardAt: number): Meters => {
  const meter = meters[reading.source];
  const after = reading.isCumulative ? readCumulative(meter, reading, heardAt) : readIncrement(meter, reading);
  return after === meter ? meters : { ...meters, [reading.source]: after };
};

const tokensOf = ({ input_tokens, cache_read_tokens, cache_write_tokens, output_tokens }: Amounts): number =>
  input_tokens + cache_read_tokens + cache_write_tokens + output_tokens;

const whole = (amount: number): number => Math.max(0, Math.round(amount));

const usageBy = ({ model, amounts }: Total): TokenUsage => ({
  model,
  input_tokens: whole(amounts.input_tokens),
  cache_read_tokens: whole(amounts.cache_read_tokens),
  cache_write_tokens: whole(amounts.cache_write_tokens),
  output_tokens: whole(amounts.output_tokens),
});

const costOf = ({ totals }: Meter): number | null => {
  const costs = totals.flatMap(({ amounts }) => amounts.usd ?? []);
  return costs.length === 0 ? null : costs.reduce((sum, one) => sum + one, 0);
};

/**
 * Metrics and spans count the same tokens. Spans are preferred: they name the agent and the request, and metrics leave out which sub-agent
 * it was.
 */
const usageOf = ({ metric, span }: Meters): Usage => ({
  usage: (span.totals.length > 0 ? span : metric).totals.filter(({ amounts }) => tokensOf(amounts) > 0).map(usageBy),
  context: null,
  costUsd: costOf(metric),
});

/** By the client's id of a sub-agent; the session's own agent has the empty text. */
export type SessionMeters = Readonly<Record<string, Meters>>;

const OWN = '';

const bounded = (all: SessionMeters): SessionMeters => {
  const agents = Object.keys(all).filter((agent) => agent !== OWN);
  const forgotten = new Set(agents.slice(0, Math.max(0, agents.length - MOST_AGENTS)));
  return Object.fromEntries(Object.entries(all).filter(([agent]) => !forgotten.has(agent)));
};

export type Metered = { readonly meters: SessionMeters; readonly events: readonly SessionEvent[] };

/** The meters of a session after readings, the oldest first, and an event for each agent of which they have counted more. */
export const readMeters = (before: SessionMeters, readings: readonly MeterReading[], heardAt: number): Metered =>
  readings.reduce<Metered>(
    ({ meters, events }, reading) => {
      const agent = reading.agent ?? OWN;
      const known = ownOf(meters, agent) ?? noMeters;
      const counted = readMeter(known, reading, heardAt);
      const usage = usageOf(counted);
      const isMore = JSON.stringify(usage) !== JSON.stringify(usageOf(known));
      const event: SessionEvent = { kind: 'usage_metered', usage, at: reading.at, agent: reading.agent };
      return {
        meters: bounded({ ...meters, [agent]: counted }),
        events: isMore ? [...events.filter((one) => one.agent !== reading.agent), event] : events,
      };
    },
    { meters: before, events: [] },
  );
