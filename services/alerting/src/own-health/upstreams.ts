import { Topic } from '@vigil/events';
import { utcTime } from '@vigil/policy';
import type { LogRecord } from '@vigil/stream';

/**
 * The topics whose ticks show the time of each service. A tick of health-evaluator has passed heartbeat-ingest, so its
 * own topic is read only to find out which of the two stands.
 */
export const TICKS_OF = {
  'health-evaluator': [Topic.agentHealth],
  intervention: [Topic.agentIntervention, Topic.fleetGovernance],
  recovery: [Topic.taskRecovery],
  alerting: [Topic.notify],
} as const;
type Timed = keyof typeof TICKS_OF;
const TIMED = Object.keys(TICKS_OF) as Timed[];

export const FOLLOWED: readonly string[] = Object.values(TICKS_OF).flat();

/** Without these, no alert is current: nothing is judged, done or delivered. */
const NEEDED: readonly Timed[] = ['health-evaluator', 'intervention', 'alerting'];

/** Ticks are written each second, those of recovery every five. An older one means that time stands, or is far behind. */
export const STILL_MS = 30_000;

/** The newest tick of each partition of a topic, epoch milliseconds; 0: none yet. */
export type Ticks = ReadonlyMap<string, readonly number[]>;

export const noTicks = (partitions: ReadonlyMap<string, number>): Ticks =>
  new Map([...partitions].map(([topic, count]) => [topic, Array<number>(count).fill(0)]));

export const ticked = (before: Ticks, { topic, partition, key, timestamp }: LogRecord): Ticks => {
  const known = before.get(topic);
  if (known === undefined || !key?.startsWith('@tick/') || (known[partition] ?? 0) >= timestamp) return before;
  return new Map(before).set(topic, known.with(partition, timestamp));
};

/** The time of a service: that of its slowest partition. */
const timeOf = (ticks: Ticks, service: Timed): number =>
  Math.min(...TICKS_OF[service].flatMap((topic) => ticks.get(topic) ?? [0]));

/** Why the time of a service is not current; null: it is. */
const stillness = (ticks: Ticks, service: Timed, now: number): string | null => {
  const time = timeOf(ticks, service);
  if (now - time <= STILL_MS) return null;
  return time === 0 ? 'its time has not been seen' : `its time stands at ${utcTime(time)}`;
};

/** What the ticks show of each service. */
export const findingsOf = (ticks: Ticks, now: number): Readonly<Record<Timed, string | null>> =>
  Object.fromEntries(TIMED.map((service) => [service, stillness(ticks, service, now)])) as Record<Timed, string | null>;

const areCurrent = (services: readonly Timed[], ticks: Ticks, now: number): boolean =>
  services.every((service) => stillness(ticks, service, now) === null);

/** Time flows through ingest, evaluator, intervention and alerting: open alerts are current, also while recovery stands. */
export const timeFlows = (ticks: Ticks, now: number): boolean => areCurrent(NEEDED, ticks, now);

/** Time flows through all services that have one, recovery too. */
export const timeFlowsThroughAll = (ticks: Ticks, now: number): boolean => areCurrent(TIMED, ticks, now);
