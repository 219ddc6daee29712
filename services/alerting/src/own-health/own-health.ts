import { Topic } from '@vigil/events';
import type { Log, Logger } from '@vigil/stream';
import { notReadyText } from '@vigil/stream/part-answer';
import { type Notify, notify } from '../notices/notice.ts';
import { noPolicies } from '../notices/policy-alerts.ts';
import { ping } from './ping.ts';
import { awayIn, type Findings, flipsOf, found, isAnyStill, type Standing, written } from './standing.ts';
import { FOLLOWED, findingsOf, noTicks, type Ticks, ticked, timeFlows, timeFlowsThroughAll } from './upstreams.ts';

export type OwnHealthDeps = {
  /** epoch milliseconds */
  readonly now: () => number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** where each service answers /ready */
  readonly probes: readonly (readonly [service: string, url: string])[];
  /** null: there is no outside address to ping */
  readonly deadmanUrl: string | null;
  readonly write: (notices: readonly Notify[]) => Promise<unknown>;
};

const LOOK_MS = 5000;
const PING_MS = 30_000;
const PROBE_MS = 5000;
/** Ticks are looked for from so far back at the start. */
const LOOK_BACK_MS = 15_000;

/**
 * Watches Vigil itself: the time of its services and their probes. What stands is an alert, which the parts that still
 * run deliver. While time flows through all and none stands still, it pings an outside address, whose owner notifies
 * people when the pings stop.
 */
export const watchOwnHealth = async (log: Log, deps: OwnHealthDeps) => {
  const { now, logger, signal } = deps;
  const partitions = new Map(
    await Promise.all(FOLLOWED.map(async (topic) => [topic, await log.partitionCount(topic)] as const)),
  );
  let ticks: Ticks = noTicks(partitions);
  let standing: Standing = new Map();
  const { ready } = await log.follow(
    FOLLOWED,
    now() - LOOK_BACK_MS,
    (record) => {
      ticks = ticked(ticks, record);
    },
    signal,
  );
  const look = alone(async () => {
    const probed = await probesOf(deps);
    standing = found(standing, merged(await timeFindings(log, ticks, deps), probed), now());
    for (const flip of flipsOf(standing, now())) {
      await deps.write([notify(flip.notice, null, noPolicies)]);
      standing = written(standing, flip);
    }
  }, logger);
  const pingNow = alone(async () => {
    const isWell = timeFlowsThroughAll(ticks, now()) && !isAnyStill(standing, now());
    if (deps.deadmanUrl !== null && isWell) await ping(deps.deadmanUrl);
  }, logger);
  const timers = [setInterval(look, LOOK_MS), setInterval(pingNow, PING_MS)];
  look();
  signal.addEventListener('abort', () => timers.forEach(clearInterval), { once: true });
  return { ready, away: () => awayIn(standing), timeFlows: () => timeFlows(ticks, now()) };
};

/** One at a time; a failure is logged, and the next one is another attempt. */
const alone = (work: () => Promise<void>, logger: Logger): (() => void) => {
  let isBusy = false;
  return () => {
    if (isBusy) return;
    isBusy = true;
    work()
      .catch((err: unknown) => logger.warn({ why: (err as Error).message }, "Vigil's own health"))
      .finally(() => {
        isBusy = false;
      });
  };
};

/** The evaluator gets its time from heartbeat-ingest: where both stand, the first one is the cause. */
const timeFindings = async (log: Log, ticks: Ticks, { now }: OwnHealthDeps): Promise<Findings> => {
  const findings = findingsOf(ticks, now());
  if (findings['health-evaluator'] === null) return { ...findings, 'heartbeat-ingest': null };
  const isWritten = await hasRecentTick(log, Topic.agentObservation, now() - LOOK_BACK_MS);
  if (isWritten) return { ...findings, 'heartbeat-ingest': null };
  const { 'health-evaluator': _, ...others } = findings;
  return { ...others, 'heartbeat-ingest': 'it writes no time' };
};

const SEARCH_MS = 3000;

/** Whether some partition of the topic got a tick after that moment. */
const hasRecentTick = async (log: Log, topic: string, since: number): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stop = new AbortController();
  const timer = setTimeout(() => resolve(false), SEARCH_MS);
  await log.follow([topic], since, ({ key }) => key?.startsWith('@tick/') && resolve(true), stop.signal);
  const isThere = await promise;
  clearTimeout(timer);
  stop.abort();
  return isThere;
};

/** What stands by its time and does not answer either has both reasons. */
const merged = (first: Findings, second: Findings): Findings =>
  Object.fromEntries(
    [...new Set([...Object.keys(first), ...Object.keys(second)])].map((service) => {
      const reasons = [first[service], second[service]].filter((why) => typeof why === 'string');
      return [service, reasons.length === 0 ? null : reasons.join('; ')];
    }),
  );

const probesOf = async ({ probes }: OwnHealthDeps): Promise<Findings> =>
  Object.fromEntries(await Promise.all(probes.map(async ([service, url]) => [service, await probe(url)] as const)));

const probe = async (url: string): Promise<string | null> => {
  try {
    const answer = await fetch(new URL('/ready', url), { signal: AbortSignal.timeout(PROBE_MS) });
    const text = await answer.text();
    return answer.ok ? null : `it is ${notReadyText(answer.status, text)}`;
  } catch {
    return `${new URL(url).host} does not answer`;
  }
};
