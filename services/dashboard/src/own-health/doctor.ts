import type { Logger } from '@vigil/chassis';
import { catalogue, Topic, type TopicName } from '@vigil/events';
import { sweepOf, VOCABULARY } from '@vigil/health';
import { ASSIGNMENT, republished } from '@vigil/policy';
import type { Away, Doctor, HangingTransaction, ReadModel } from '@vigil/read-model';
import { withCauses } from '@vigil/read-model/knowledge';
import { hangingTransactions, type Log, within } from '@vigil/stream';
import { noAnswerText, notReadyText } from '@vigil/stream/part-answer';
import { BROKER, POSTGRES } from './knowledge.ts';

type ProcessorOf<T> = T extends `onex.snapshot.${infer Processor}.state.v1` ? Processor : never;
/** Each processor has its snapshot topic. */
type ProcessorName = ProcessorOf<TopicName>;

/** The topic into which a processor writes ticks: it shows the processor's time. Null: the processor writes none. */
const TICKS_OF: Readonly<Record<ProcessorName, TopicName | null>> = {
  'heartbeat-ingest': Topic.agentObservation,
  'health-evaluator': Topic.agentHealth,
  'intervention-cases': Topic.agentIntervention,
  'intervention-governor': Topic.fleetGovernance,
  'intervention-requests': null,
  'intervention-spending': Topic.spending,
  recovery: Topic.taskRecovery,
  alerting: Topic.notify,
  'alerting-agent': null,
  'alerting-task': null,
  'alerting-fleet': null,
  'alerting-groups': null,
};

const TIMED = Object.entries(TICKS_OF).flatMap(([processor, topic]) =>
  topic === null ? [] : [[processor, topic] as const],
);

/** What a part takes at most to answer. */
export const PROBE_LIMIT_MS = 2_000;
/** Before a caller gives up: the command line waits for 3.5 s. */
const PART_LIMIT_MS = 3_000;
const FIRST_RECORDS = 100; // transaction markers take offsets too

export type DoctorDeps = {
  readonly log: Pick<Log, 'bounds' | 'clusterId' | 'read' | 'follow' | 'partitionCount'>;
  readonly model: ReadModel;
  /** Opens a new connection to Postgres, and closes it. A frozen postmaster accepts none, while open ones answer. */
  readonly connect: () => Promise<void>;
  readonly probes: readonly (readonly [service: string, url: string])[];
  /** root of its Confluent-compatible API; null: the schemas are beside the records */
  readonly registry: string | null;
  readonly hanging: () => readonly HangingTransaction[];
  /** the parts that have not answered well of late */
  readonly away: () => readonly Away[];
  readonly now: () => number;
};

/** The broker or Postgres may be what is wrong: each part of the answer is found out for itself. */
export const examine = async (deps: DoctorDeps): Promise<Doctor> => {
  const { model, probes, registry, hanging } = deps;
  const missing: { what: string; why: string; sources: readonly string[] }[] = [];
  const find = async <T>(what: string, sources: readonly string[], answer: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await within(PART_LIMIT_MS, answer, what);
    } catch (error) {
      missing.push({ what, why: (error as Error).message, sources });
      return otherwise;
    }
  };
  const [answers, time, lag, agents, replayFrom, fleet, sweeps] = await Promise.all([
    // Without the broker no service is ready, so it is the first.
    Promise.all([
      serverAnswers(BROKER, deps.log.clusterId()),
      ...probes.map(([service, url]) => readiness(service, url)),
      ...(registry === null ? [] : [registryAnswers(registry)]),
      serverAnswers(POSTGRES, Promise.all([deps.connect(), model.projectedUpTo()])),
    ]),
    find('the time of the processors', [BROKER], ages(deps), []),
    find('the lag of the projector', [BROKER, POSTGRES], lagOf(deps), null),
    find('duplicate instances', [POSTGRES], model.agents({}), []),
    find('the reach of replay', [BROKER], replayReach(deps.log), null),
    find('what holds the fleet', [POSTGRES], model.fleet(), null),
    find('the stuck sweeps of the policies', [POSTGRES], sweepsOf(model), []),
  ]);
  const since = new Map(deps.away().map((one) => [one.part, one.since]));
  const services = withCauses(
    answers.map((one) => ({ ...one, since: one.ready ? null : (since.get(one.service) ?? null) })),
  );
  const unknown = missing.map(({ what, why, sources }) => {
    const silent = services.filter(({ service, ready }) => !ready && sources.includes(service));
    const times = silent.flatMap((one) => one.since ?? []);
    return {
      what,
      why,
      parts: silent.map(({ service }) => service),
      since: times.length === 0 ? null : Math.min(...times),
    };
  });
  const duplicates = agents.flatMap(({ agentId, instanceId, duplicateOf, duplicateCount, duplicateAt }) =>
    duplicateOf === null
      ? []
      : [{ agentId, instanceId, otherInstanceId: duplicateOf, count: duplicateCount, at: duplicateAt }],
  );
  return {
    services,
    time,
    lag: lag === null ? [] : [lag],
    duplicates,
    hanging: hanging(),
    replayFrom,
    fleet,
    sweeps,
    unknown,
  };
};

const sweepsOf = async (model: ReadModel): Promise<Doctor['sweeps']> => {
  const inForce = (await model.policies()).filter(({ name }) => name !== ASSIGNMENT);
  const documents = await Promise.all(inForce.map(({ hash }) => model.policyDocument(hash)));
  return documents.flatMap((document) => (document === null ? [] : sweepIn(document)));
};

/** A policy that a newer evaluator has published may have signals that are unknown here. */
const sweepIn = (document: string): Doctor['sweeps'] => {
  try {
    const sweep = sweepOf(republished(document, VOCABULARY));
    return sweep === null ? [] : [sweep];
  } catch {
    return [];
  }
};

const ages = async ({ log, now }: DoctorDeps): Promise<Doctor['time']> => {
  const at = now();
  const topics = TIMED.map(([, topic]) => topic);
  const ticks = await newestTicks(log, topics, at);
  return TIMED.map(([processor, topic]) => {
    const { slowest = null, fastest = null } = ticks.get(topic) ?? {};
    const ageMs = slowest === null ? null : Math.max(0, at - slowest);
    return { processor, ageMs, aheadMs: fastest === null ? 0 : Math.max(0, fastest - at) };
  });
};

const lagOf = async (deps: DoctorDeps): Promise<Doctor['lag'][number]> => {
  const [atMost, upTo] = await Promise.all([projectorLag(deps), deps.model.projectedUpTo()]);
  return { group: 'projector', atMost, behindMs: upTo === null ? null : Math.max(0, deps.now() - upTo) };
};

const projectorLag = async ({ log, model }: DoctorDeps): Promise<number | null> => {
  const positions = await model.positions();
  if (positions.length === 0) return null;
  const topics = [...new Set(positions.map(({ topic }) => topic))];
  const bounds = new Map(await Promise.all(topics.map(async (topic) => [topic, await log.bounds(topic)] as const)));
  const lagging = positions.map((at) => Math.max(0, (bounds.get(at.topic)?.[at.partition]?.high ?? 0) - at.offset));
  return lagging.reduce((sum, records) => sum + records, 0);
};

const replayReach = async (log: DoctorDeps['log']): Promise<number | null> => {
  const bounds = await log.bounds(Topic.agentObservation);
  const firsts = await Promise.all(bounds.map(({ low, high }, partition) => firstIn(log, partition, low, high)));
  const known = firsts.filter((first) => first !== null);
  return known.length === 0 ? null : Math.max(...known);
};

const firstIn = async (
  log: DoctorDeps['log'],
  partition: number,
  low: number,
  high: number,
): Promise<number | null> => {
  if (low >= high) return null;
  let first: number | null = null;
  const range = { low, high: Math.min(high, low + FIRST_RECORDS) };
  const signal = AbortSignal.timeout(PROBE_LIMIT_MS);
  await log.read(Topic.agentObservation, partition, range, ({ timestamp }) => (first ??= timestamp), signal);
  if (first === null && signal.aborted)
    throw new Error(`the broker sent none of its records within ${PROBE_LIMIT_MS / 1000} s`);
  return first;
};

type Answer = { readonly service: string; readonly ready: boolean; readonly detail: string };

export const readiness = async (service: string, url: string): Promise<Answer> => {
  try {
    const answer = await fetch(new URL('/ready', url), { signal: AbortSignal.timeout(PROBE_LIMIT_MS) });
    const body = await answer.text();
    return { service, ready: answer.ok, detail: answer.ok ? '' : notReadyText(answer.status, body) };
  } catch (error) {
    return { service, ready: false, detail: withoutAnswer(url, error) };
  }
};

/** Whether a server answers that services share. */
const serverAnswers = async (service: string, question: Promise<unknown>): Promise<Answer> => {
  try {
    await within(PROBE_LIMIT_MS, question, service);
    return { service, ready: true, detail: '' };
  } catch (error) {
    return { service, ready: false, detail: `${(error as Error).message}: is it running?` };
  }
};

export const REGISTRY = 'registry';

/** Any answer shows that it runs: without credentials it may be a refusal. */
export const registryAnswers = async (url: string): Promise<Answer> => {
  try {
    const { status } = await fetch(`${url}/subjects`, { signal: AbortSignal.timeout(PROBE_LIMIT_MS) });
    return {
      service: REGISTRY,
      ready: status < 500,
      detail: status < 500 ? '' : `${url} answers with status ${status}`,
    };
  } catch (error) {
    return { service: REGISTRY, ready: false, detail: withoutAnswer(url, error) };
  }
};

const withoutAnswer = (url: string, error: unknown): string => `${url} ${noAnswerText(error, PROBE_LIMIT_MS)}`;

/** Ticks are looked for this far back: a processor whose time is older stands. */
export const LOOK_BACK_MS = 15_000;
/** One this young is as good as the newest. */
const YOUNG_MS = 3_000;
const PATIENCE_MS = 2_000;

const isTick = (key: string | null): boolean => key?.startsWith('@tick/') ?? false;

/** Of the partitions of a topic, epoch milliseconds. `slowest` null: some partition had no tick in the last 15 s; `fastest` null: none had one. */
export type NewestTicks = { readonly slowest: number | null; readonly fastest: number | null };

/**
 * When each topic last had a tick, in the slowest and in the fastest of its partitions.
 * Reads to the end: at once where all are young, otherwise for two seconds. Throws if it has read no tick at all: then
 * the broker was too slow, or all processors stand.
 */
export const newestTicks = async (
  log: Pick<Log, 'follow' | 'partitionCount'>,
  topics: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, NewestTicks>> => {
  const newest = new Map<string, number[]>();
  for (const topic of topics) newest.set(topic, Array(await log.partitionCount(topic)).fill(Number.NEGATIVE_INFINITY));
  const enough = new AbortController();
  const signal = AbortSignal.any([enough.signal, AbortSignal.timeout(PATIENCE_MS)]);
  const slowest = (topic: string) => Math.min(...(newest.get(topic) ?? []));
  await log.follow(
    topics,
    now - LOOK_BACK_MS,
    ({ topic, partition, key, timestamp }) => {
      const partitions = newest.get(topic);
      if (partitions === undefined || !isTick(key)) return;
      partitions[partition] = Math.max(timestamp, partitions[partition] ?? 0);
      if (topics.every((each) => now - slowest(each) < YOUNG_MS)) enough.abort();
    },
    signal,
  );
  await aborted(signal);
  if (topics.every((topic) => newest.get(topic)?.every((tick) => !Number.isFinite(tick))))
    throw new Error(`no tick of the last ${LOOK_BACK_MS / 1000} s was read within ${PATIENCE_MS / 1000} s`);
  const seen = (moment: number) => (Number.isFinite(moment) ? moment : null);
  const fastest = (topic: string) => Math.max(...(newest.get(topic) ?? []));
  return new Map(topics.map((topic) => [topic, { slowest: seen(slowest(topic)), fastest: seen(fastest(topic)) }]));
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const LOOK_MS = 10_000;

/**
 * Looks at every topic for hanging transactions, until the signal is aborted. Returns the findings of the last look.
 */
export const watchTransactions = (
  log: Log,
  signal: AbortSignal,
  logger: Logger,
): (() => readonly HangingTransaction[]) => {
  const look = hangingTransactions(log, Object.keys(catalogue));
  let found: readonly HangingTransaction[] = [];
  let looking = false;
  const again = async () => {
    if (looking) return;
    looking = true;
    try {
      found = await look(performance.now());
      for (const hanging of found) logger.error(hanging, 'a transaction hangs: see `vigil transactions`');
    } catch (err) {
      logger.warn({ err }, 'whether a transaction hangs could not be asked');
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void again(), LOOK_MS);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return () => found;
};
