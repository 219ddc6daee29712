import { setTimeout as sleep } from 'node:timers/promises';
import { type HealthEvent, NewerEvent, Topic, Undecodable, UnknownSchemaId } from '@vigil/events';
import {
  DeadLetter,
  eventOf,
  isEvent,
  type Log,
  type LogRecord,
  type PartitionRange,
  partitionOf,
} from '@vigil/stream';
import type { Observation } from '../evaluator/health.ts';
import { type DecisionEvent, recordedDecision } from './decided.ts';
import { Documents, type PublishedDocument } from './documents.ts';
import type { ReplayReader, ReplaySource, Span } from './source.ts';

/** The partitions of observations that are read, with the decisions that follow from them. */
export type Part = 'all' | readonly number[];

/** `done`: observations and marks that were read; `of`: all of them. */
export type ReplayProgress = (done: number, of: number) => void;

type ReadLog = Pick<Log, 'codec' | 'bounds' | 'stableEnds' | 'groupOffsets' | 'read' | 'readRanges'>;

const OBSERVATIONS = Topic.agentObservation;
const EVALUATOR = 'health-evaluator';
/** How many offsets at the beginning are looked at for the time of the first record. Some are marks of transactions. */
const FIRST = 1000;
const PROGRESS_EVERY = 20_000;
/** A transaction lives for at most 20 s. */
const LOOK_MS = 250;
const MOST_LOOKS = 120;

type Wanted = (record: LogRecord) => boolean;
/** `event` null: it was not wanted, or cannot be read. `why`: why it cannot be read. */
type Take = (record: LogRecord, event: HealthEvent | null, why: string | null) => void;

/** Reads records in order and decodes the wanted ones. Records wait while a schema is fetched from the registry. */
class DecodedReading {
  readonly #log: ReadLog;
  readonly #wanted: Wanted;
  readonly #take: Take;
  #waiting: LogRecord[] = [];
  #learning: Promise<void> | null = null;

  constructor(log: ReadLog, wanted: Wanted, take: Take) {
    this.#log = log;
    this.#wanted = wanted;
    this.#take = take;
  }

  readonly apply = (record: LogRecord): void => {
    if (this.#learning !== null) this.#waiting.push(record);
    else this.#one(record);
  };

  /** Resolves when no record waits. */
  async settled(): Promise<void> {
    while (this.#learning !== null) await this.#learning;
  }

  #one(record: LogRecord): void {
    const unknown = this.#decode(record);
    if (unknown === null) return;
    this.#waiting.push(record);
    this.#learning = this.#learn(unknown);
    // `settled` reports it, which is awaited after the reading.
    this.#learning.catch(() => {});
  }

  async #learn(unknown: UnknownSchemaId): Promise<void> {
    let cannot: string | null = null;
    try {
      await this.#log.codec.learn(unknown);
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error;
      cannot = error.message;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#learning = null;
    if (cannot !== null) this.#take(waiting.shift() as LogRecord, null, cannot);
    waiting.forEach(this.apply);
  }

  /** The unknown schema, if that is what the record needs first. */
  #decode(record: LogRecord): UnknownSchemaId | null {
    let event: HealthEvent | null = null;
    let why: string | null = null;
    try {
      if (isEvent(record) && this.#wanted(record)) event = eventOf(record, this.#log.codec);
    } catch (error) {
      if (error instanceof UnknownSchemaId) return error;
      if (!(error instanceof DeadLetter || error instanceof Undecodable || error instanceof NewerEvent)) throw error;
      why = error.message;
    }
    this.#take(record, event, why);
    return null;
  }
}

const readDecoded = async (
  log: ReadLog,
  ranges: readonly PartitionRange[],
  wanted: Wanted,
  take: Take,
  signal: AbortSignal,
): Promise<void> => {
  const reading = new DecodedReading(log, wanted, take);
  const some = ranges.filter(({ low, high }) => low < high);
  if (some.length > 0) await log.readRanges(some, reading.apply, signal);
  await reading.settled();
  signal.throwIfAborted();
};

const rangesOf = async (log: ReadLog, topic: string): Promise<readonly PartitionRange[]> => {
  const [bounds, ends] = [await log.bounds(topic), await log.stableEnds(topic)];
  return bounds.map(({ low, high }, partition) => ({
    topic,
    partition,
    low,
    high: Math.min(high, ends[partition] ?? high),
  }));
};

const publishedIn = async (log: ReadLog, signal: AbortSignal): Promise<readonly PublishedDocument[]> => {
  const found: PublishedDocument[] = [];
  const take: Take = (_, event) => {
    if (event?.topic !== Topic.policy || event.type !== 'POLICY_PUBLISHED') return;
    const { name, hash, document } = event.payload;
    found.push({ name, hash, document });
  };
  await readDecoded(log, await rangesOf(log, Topic.policy), () => true, take, signal);
  return found;
};

/**
 * What is read of a live log. `complete`, by partition: every decision on the observations before this offset is in
 * `decisions`. Every decision in `decisions` follows from `observations`.
 */
type Extent = {
  readonly observations: readonly PartitionRange[];
  readonly decisions: readonly (readonly PartitionRange[])[];
  readonly complete: readonly (number | null)[];
};

/** The ranges of a topic up to its present end. Waits until no unfinished transaction hides a part of them. */
const committedRanges = async (log: ReadLog, topic: string): Promise<readonly PartitionRange[]> => {
  const bounds = await log.bounds(topic);
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const ends = await log.stableEnds(topic);
    if (bounds.every(({ high }, partition) => (ends[partition] ?? high) >= high))
      return bounds.map(({ low, high }, partition) => ({ topic, partition, low, high }));
    await sleep(LOOK_MS);
  }
  throw new Error(
    `an unfinished transaction has hidden the end of ${topic} for ${(MOST_LOOKS * LOOK_MS) / 1000} s: look for one that hangs with \`vigil doctor\``,
  );
};

/**
 * The evaluator continues while its log is read. So its position comes first, then the ends of what it has written, and
 * then that of the observations. A mark of rules is in the topic of agents, which comes last of the three.
 */
const extentOf = async (log: ReadLog, part: Part): Promise<Extent> => {
  const complete = await log.groupOffsets(EVALUATOR, OBSERVATIONS);
  const decisions: (readonly PartitionRange[])[] = [];
  for (const topic of [Topic.taskHealth, Topic.fleetPresence, Topic.agentHealth])
    decisions.push(await committedRanges(log, topic));
  const all = await rangesOf(log, OBSERVATIONS);
  const observations = all.map((range) => (isOfPart(part, range.partition) ? range : { ...range, high: range.low }));
  return { complete, decisions, observations };
};

const isOfPart = (part: Part, partition: number): boolean => part === 'all' || part.includes(partition);

/** The time of the first stored record of a partition; 0 if none before it was deleted, so that all agents began later. */
const beginningOf = async (log: ReadLog, { topic, partition, low, high }: PartitionRange): Promise<number> => {
  if (low === 0 || low === high) return 0;
  let first = Number.POSITIVE_INFINITY;
  const range = { low, high: Math.min(high, low + FIRST) };
  const apply = ({ timestamp }: LogRecord) => {
    first = Math.min(first, timestamp);
  };
  await log.read(topic, partition, range, apply, new AbortController().signal);
  return first;
};

/** The offset of a mark of rules from which they apply. */
const ruleMarkOf = ({ value }: LogRecord): { readonly rules: string; readonly from: number } => {
  const { rules, from } = JSON.parse(String(value)) as {
    readonly rules: string;
    readonly from: Readonly<Record<string, number>>;
  };
  return { rules, from: from[OBSERVATIONS] ?? 0 };
};

/** Passes on the recorded rules and decisions. An agent that was known before the first record is only named. */
const readDecisions = async (
  log: ReadLog,
  { decisions, complete }: Extent,
  { agent }: Span,
  part: Part,
  beginnings: readonly number[],
  reader: ReplayReader,
  signal: AbortSignal,
): Promise<void> => {
  const earlier = new Set<string>();
  const marked = new Map<number, number>();
  const placeOf = (key: string) => partitionOf(key, beginnings.length);
  const isEarlier = (key: string, at: number) => at < (beginnings[placeOf(key)] ?? 0);
  const note = (key: string) => {
    if (!earlier.has(key)) reader.earlier(key);
    earlier.add(key);
  };
  const isOfSpan = (key: string) => (agent === null || key === agent) && isOfPart(part, placeOf(key));
  // The key of the agent's own topic is the agent, so that most earlier decisions are not decoded.
  const wanted: Wanted = ({ topic, key, timestamp }) => {
    if (topic !== Topic.agentHealth || key === null) return true;
    if (isEarlier(key, timestamp) && isOfSpan(key)) note(key);
    return isOfSpan(key) && !isEarlier(key, timestamp);
  };
  const take: Take = (record, event) => {
    if (record.topic === Topic.agentHealth && record.key === '@policy' && record.value !== null) {
      const { rules, from } = ruleMarkOf(record);
      reader.rules(record.partition, from, rules);
      marked.set(record.partition, from);
    }
    if (event === null) return;
    const decision = recordedDecision(event as DecisionEvent);
    if (!isOfSpan(decision.stateKey)) return;
    if (isEarlier(decision.stateKey, decision.epoch)) note(decision.stateKey);
    else reader.decided(decision);
  };
  for (const ranges of decisions) await readDecoded(log, ranges, wanted, take, signal);
  // A mark of rules is written at each start: its offset bounds what the evaluator had read where its group has none.
  for (let partition = 0; partition < beginnings.length; partition += 1)
    reader.complete(partition, Math.max(complete[partition] ?? 0, marked.get(partition) ?? 0));
};

/** The partition of one agent has all of its observations. */
const partOf = ({ agent }: Span, partitions: number): Part =>
  agent === null ? 'all' : [partitionOf(agent, partitions)];

/**
 * The stored observations of a log, from the first one on: the state of an agent follows from all of its reports. Reads
 * the log outside any group and changes nothing.
 */
export const logSource = async (log: ReadLog, span: Span, onProgress: ReplayProgress): Promise<ReplaySource> =>
  partSource(log, span, partOf(span, (await log.bounds(OBSERVATIONS)).length), onProgress);

/** As `logSource`, of some partitions. */
export const partSource = async (
  log: ReadLog,
  span: Span,
  part: Part,
  onProgress: ReplayProgress,
): Promise<ReplaySource> => {
  const extent = await extentOf(log, part);
  const { observations } = extent;
  // After the ends of the decisions, because a policy is published before the first decision that follows it.
  const documents = new Documents(await publishedIn(log, new AbortController().signal));
  const read = async (reader: ReplayReader, signal: AbortSignal) => {
    const beginnings = await Promise.all(observations.map((range) => beginningOf(log, range)));
    await readDecisions(log, extent, span, part, beginnings, reader, signal);
    const of = observations.reduce((sum, { low, high }) => sum + high - low, 0);
    let done = 0;
    // Enough is read when every partition has passed the end of the span.
    const enough = new AbortController();
    const open = new Set(observations.filter(({ low, high }) => low < high).map(({ partition }) => partition));
    const to = span.to ?? Number.POSITIVE_INFINITY;
    const take: Take = (record, event, why) => {
      done += 1;
      if (done % PROGRESS_EVERY === 0) onProgress(done, of);
      if (record.timestamp > to) open.delete(record.partition);
      if (open.size === 0) enough.abort();
      if (!open.has(record.partition)) return;
      if (why !== null) reader.unreadable(record.partition, record.offset, why);
      reader.record(record.partition, record, event as Observation | null);
    };
    const wanted: Wanted = ({ key, timestamp }) => timestamp <= to && (span.agent === null || key === span.agent);
    const either = AbortSignal.any([signal, enough.signal]);
    try {
      await readDecoded(log, observations, wanted, take, either);
    } catch (error) {
      if (!enough.signal.aborted || signal.aborted) throw error;
    }
    onProgress(of, of);
  };
  return { span, partitions: observations.length, documents, read };
};
