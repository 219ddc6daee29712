import type { TokenUsage } from '@vigil/events';
import type { SessionEvent, Usage } from '../session/events.ts';
import { combined as combinedTokens, tokensIn } from '../shared/counts.ts';
import { ownOf } from '../shared/payload.ts';

/**
 * The amounts of a meter. Those of one reading may be negative, because some clients count cached tokens among the
 * input tokens.
 */
export type Amounts = Omit<TokenUsage, 'model'> & {
  /** null: not counted */
  readonly usd: number | null;
};

/** The tokens or money of an agent in one data point or span. */
export type MeterReading = {
  /** the client's id of a sub-agent; null: the session's own agent */
  readonly agent: string | null;
  readonly source: 'metric' | 'span';
  /** identifies the reading; a repeated export has the same id */
  readonly id: string;
  /** identifies the series that the reading continues */
  readonly series: string;
  /** epoch milliseconds */
  readonly at: number;
  /** the start of a cumulative reading, epoch milliseconds; null if unknown */
  readonly startedAt: number | null;
  readonly isCumulative: boolean;
  readonly model: string | null;
  readonly amounts: Amounts;
};

type Series = { readonly startedAt: number | null; readonly at: number; readonly amounts: Amounts };
type Total = { readonly model: string | null; readonly amounts: Amounts };

/** The counts of one source. */
type Meter = {
  readonly totals: readonly Total[];
  readonly series: Readonly<Record<string, Series>>;
  /** readings that are not cumulative, the newest last */
  readonly counted: readonly string[];
  /** the number of readings in the largest request */
  readonly largest: number;
  /** the last reading of the newest dropped series, epoch milliseconds; 0 if none was dropped */
  readonly forgottenAt: number;
};

/** The counts of one agent from metrics and spans. */
type Meters = Readonly<Record<MeterReading['source'], Meter>>;

const noMeter: Meter = { totals: [], series: {}, counted: [], largest: 0, forgottenAt: 0 };
const noMeters: Meters = { metric: noMeter, span: noMeter };

/**
 * The number of increments that are stored, so that a repeated export does not count again. For an agent with larger
 * requests, two requests are stored, because an increment that is dropped before its repetition would count again.
 */
const MOST_COUNTED = 500;
const LARGEST_REQUEST = 4096;
const MOST_SERIES = 200;
/** The number of models, more than a session has. Further models count without a name. */
const MOST_MODELS = 50;
/** The number of sub-agents whose meters are stored. Beyond it, the oldest are dropped. */
const MOST_AGENTS = 100;

export const noAmounts: Amounts = {
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  usd: null,
};

const combined = (one: Amounts, other: Amounts, sign: 1 | -1): Amounts => ({
  ...combinedTokens(one, other, sign),
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

/** A counter only grows, so a smaller value means a restart. */
const hasStartedAgain = (before: Series, { startedAt, amounts }: MeterReading): boolean => {
  if (startedAt !== before.startedAt) return true;
  const sizes = ({ usd, ...tokens }: Amounts): readonly number[] => [...Object.values(tokens), usd ?? 0].map(Math.abs);
  const [old, now] = [sizes(before.amounts), sizes(amounts)];
  return now.some((size, index) => size < (old[index] ?? 0));
};

/**
 * The increase of a cumulative reading. The first reading of a series counts fully if the series began after the agent
 * was first seen. The earlier tokens of an older series may belong to another agent, and those of a dropped series may
 * have been counted. Null for no increase.
 */
const increase = (before: Series | undefined, reading: MeterReading, firstSeenAt: number): Amounts | null => {
  const { startedAt, amounts } = reading;
  if (before !== undefined && !hasStartedAgain(before, reading)) return combined(amounts, before.amounts, -1);
  if (before !== undefined && startedAt === before.startedAt) return amounts;
  return startedAt !== null && startedAt >= firstSeenAt ? amounts : null;
};

const isOutdated = (before: Series | undefined, { at, startedAt }: MeterReading): boolean =>
  before !== undefined && (at <= before.at || (startedAt ?? at) < (before.startedAt ?? 0));

const readCumulative = (meter: Meter, reading: MeterReading, firstSeenAt: number): Meter => {
  const { series, startedAt, at, amounts, model } = reading;
  const before = ownOf(meter.series, series);
  if (isOutdated(before, reading)) return meter;
  const mayBeForgotten = before === undefined && at > meter.forgottenAt;
  const more = increase(before, reading, mayBeForgotten ? Math.max(firstSeenAt, meter.forgottenAt + 1) : firstSeenAt);
  const { [series]: _, ...others } = meter.series;
  const all = Object.entries(others);
  const kept = all.slice(1 - MOST_SERIES);
  const forgotten = all.slice(0, all.length - kept.length).map(([, one]) => one.at);
  const forgottenAt = Math.max(meter.forgottenAt, ...forgotten);
  const after = {
    ...meter,
    forgottenAt,
    series: { ...Object.fromEntries(kept), [series]: { startedAt, at, amounts } },
  };
  return more === null ? after : added(after, { model, amounts: more });
};

const readIncrement = (meter: Meter, { id, model, amounts }: MeterReading): Meter =>
  meter.counted.includes(id)
    ? meter
    : added(
        { ...meter, counted: [...meter.counted, id].slice(-Math.max(MOST_COUNTED, 2 * meter.largest)) },
        { model, amounts },
      );

const inRequest = (meter: Meter, size: number): Meter => {
  const largest = Math.min(size, LARGEST_REQUEST);
  return largest <= meter.largest ? meter : { ...meter, largest };
};

type Request = { readonly size: number; readonly firstSeenAt: number };

const readMeter = (meters: Meters, reading: MeterReading, { size, firstSeenAt }: Request): Meters => {
  const meter = inRequest(meters[reading.source], size);
  const after = reading.isCumulative ? readCumulative(meter, reading, firstSeenAt) : readIncrement(meter, reading);
  return after === meters[reading.source] ? meters : { ...meters, [reading.source]: after };
};

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
 * Metrics and spans count the same tokens. Spans are preferred, because they name the agent and the request, and
 * metrics do not name the sub-agent.
 */
const usageOf = ({ metric, span }: Meters): Usage => ({
  usage: (span.totals.length > 0 ? span : metric).totals.filter(({ amounts }) => tokensIn(amounts) > 0).map(usageBy),
  context: null,
  costUsd: costOf(metric),
});

/** The meters by the client's id of a sub-agent; the session's own agent has the empty text. */
export type SessionMeters = Readonly<Record<string, Meters>>;

const OWN = '';

const bounded = (all: SessionMeters): SessionMeters => {
  const agents = Object.keys(all).filter((agent) => agent !== OWN);
  const forgotten = new Set(agents.slice(0, Math.max(0, agents.length - MOST_AGENTS)));
  return Object.fromEntries(Object.entries(all).filter(([agent]) => !forgotten.has(agent)));
};

export type Metered = { readonly meters: SessionMeters; readonly events: readonly SessionEvent[] };

/**
 * The meters of a session after the readings of a request, oldest first, and an event for each agent with new counts.
 * `firstSeenAt`: when the session was first seen, epoch milliseconds.
 */
export const readMeters = (before: SessionMeters, readings: readonly MeterReading[], firstSeenAt: number): Metered =>
  readings.reduce<Metered>(
    ({ meters, events }, reading) => {
      const agent = reading.agent ?? OWN;
      const known = ownOf(meters, agent) ?? noMeters;
      const counted = readMeter(known, reading, { size: readings.length, firstSeenAt });
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
