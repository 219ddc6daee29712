import { setTimeout as sleep } from 'node:timers/promises';
import type { Count } from '@vigil/chassis';
import { type EventOf, Topic, Undecodable } from '@vigil/events';
import {
  isEvent,
  type Log,
  type Logger,
  type LogRecord,
  Retry,
  type RunningPart,
  readEvent,
  runReactor,
  writer,
} from '@vigil/stream';
import type { Notify } from '../notices/notice.ts';
import { type DeliveryDeps, deliver, deliveryOf } from './delivery.ts';
import { followNewestAlerts } from './newest-alerts.ts';
import { followOpenAlerts } from './open-alerts.ts';
import type { Running, Sink } from './sink.ts';

type DeliveriesDeps = Pick<DeliveryDeps, 'now' | 'random'> &
  Pick<Running, 'timeFlows'> & { readonly logger: Logger; readonly count: Count };

/** The most alerts that one sink delivers at once. */
const MAX_IN_FLIGHT = 16;

/** One reactor for each sink, so that a slow sink delays no other. */
export const runDeliveries = async (
  log: Log,
  sinks: readonly Sink[],
  { now, random, timeFlows, logger, count }: DeliveriesDeps,
) => {
  await using opened = new AsyncDisposableStack();
  const stop = new AbortController();
  opened.defer(() => stop.abort());
  const deps = {
    ...{ now, random, pause: (ms: number) => sleep(ms), report: reportTo(log, now) },
    newest: await followNewestAlerts(log, { now, signal: stop.signal }),
    delivered: await deliveredIn(
      log,
      sinks.map(({ name }) => groupOf(name)),
    ),
  };
  const reactors: RunningPart[] = [];
  for (const sink of sinks) {
    const group = groupOf(sink.name);
    const options = {
      group,
      service: 'alerting',
      reads: [Topic.alert],
      maxInFlight: MAX_IN_FLIGHT,
      now,
      logger,
      count,
    } as const;
    const react = counted(sink.name, deliver(sink, deps), count);
    reactors.push(
      opened.use(
        await runReactor<typeof Topic.alert, typeof Topic.alert | typeof Topic.notify>(log, { ...options, react }),
      ),
    );
  }
  const runs = sinks.flatMap(({ run }) => (run === null ? [] : [run]));
  if (runs.length > 0) {
    const openFor = await followOpenAlerts(log, { now, signal: stop.signal });
    for (const run of runs) opened.use(await run({ logger, openFor, timeFlows }));
  }
  const kept = opened.move();
  return {
    ready: () => reactors.every((reactor) => reactor.ready()),
    status: () => reactors.flatMap((reactor) => reactor.status()),
    finished: Promise.race(reactors.map(({ finished }) => finished)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};

type React = ReturnType<typeof deliver>;

/** Counts each attempt of a channel. An alert for another channel does not count. */
export const counted =
  (channel: string, react: React, count: Count): React =>
  async (event) => {
    try {
      const outcomes = await react(event);
      if (outcomes.some(({ type }) => type === 'ALERT_DELIVERED'))
        count('deliveries', 1, { channel, outcome: 'delivered' });
      return outcomes;
    } catch (error) {
      count('deliveries', 1, { channel, outcome: error instanceof Retry ? 'retried' : 'refused' });
      throw error;
    }
  };

/** A broker that is away makes no dead letter of an alert. */
const reportTo = (log: Log, now: () => number): DeliveryDeps['report'] => {
  const { write } = writer(log, now);
  return async (notices: readonly Notify[]) => {
    await write(notices).catch((error: unknown) => {
      throw new Retry('it cannot be written that a sink fails', { cause: error });
    });
  };
};

const groupOf = (channel: string): string => `alerting-${channel}`;

/** How far from the end, in records, a delivery may be whose group position is not written yet. */
const LOOK_BACK = 5000;

/**
 * Deliveries since the positions of the groups, and recent ones: a reactor starts at its first message that waits, and does
 * not repeat the later ones.
 */
export const deliveredIn = async (log: Log, groups: readonly string[]): Promise<Set<string>> => {
  const records: LogRecord[] = [];
  const positions = await Promise.all(groups.map((group) => log.groupOffsets(group, Topic.alert)));
  for (const [partition, { low, high }] of (await log.bounds(Topic.alert)).entries()) {
    const first = Math.min(high - LOOK_BACK, ...positions.map((ofGroup) => ofGroup[partition] ?? high));
    const range = { low: Math.max(low, first), high };
    const keep = (record: LogRecord) => void records.push(record);
    if (high > low) await log.read(Topic.alert, partition, range, keep, new AbortController().signal);
  }
  const delivered = new Set<string>();
  for (const record of records) {
    const one = await deliveryIn(log, record);
    if (one !== null) delivered.add(one);
  }
  return delivered;
};

const deliveryIn = async (log: Log, record: LogRecord): Promise<string | null> => {
  if (!isEvent(record)) return null;
  try {
    const { type, payload } = (await readEvent(log.codec, record)) as EventOf<typeof Topic.alert>;
    return type === 'ALERT_DELIVERED' && payload.ok ? deliveryOf(payload.sink, payload.ofEventId) : null;
  } catch (error) {
    if (error instanceof Undecodable) return null;
    throw error;
  }
};
