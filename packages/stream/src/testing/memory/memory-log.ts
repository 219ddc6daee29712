import { type Codec, catalogue, type Draft, type HealthEvent, memoryCodec, type TopicName } from '@vigil/events';
import { Refused, Retry } from '../../errors.ts';
import { eventOf, isCommand } from '../../log/inputs.ts';
import type {
  Bounds,
  Following,
  From,
  Headers,
  Log,
  LogRecord,
  Member,
  Membership,
  OutRecord,
  PartitionRange,
  Transactor,
} from '../../log/log.ts';
import { partitionOf } from '../../log/partitioner.ts';
import { writer } from '../../log/writer.ts';
import { TICK } from '../../processor/fold.ts';
import { MemoryGroup } from './memory-group.ts';

/** `now`: the clock of the broker; `topics`: partition counts of topics that the catalogue does not have. */
export type MemoryOptions = {
  readonly partitions?: number;
  readonly codec?: Codec;
  readonly now?: () => number;
  readonly topics?: Readonly<Record<string, number>>;
};

/** The log for tests, in memory. Everything is visible at once, and nothing is ever deleted. */
export class MemoryLog implements Log {
  readonly codec: Codec;
  readonly #partitions: number;
  readonly #now: () => number;
  readonly #counts: Readonly<Record<string, number>>;
  readonly #topics = new Map<string, LogRecord[][]>();
  readonly #epochs = new Map<string, number>();
  readonly #groups = new Map<string, MemoryGroup>();
  readonly #followers = new Set<(record: LogRecord) => void>();

  constructor({ partitions = 4, codec = memoryCodec(), now = Date.now, topics = {} }: MemoryOptions = {}) {
    this.codec = codec;
    this.#partitions = partitions;
    this.#now = now;
    this.#counts = topics;
  }

  readonly clusterId = async (): Promise<string> => 'memory';

  readonly partitionCount = async (topic: string): Promise<number> => this.#of(topic).length;

  readonly stableEnds = async (topic: string): Promise<readonly number[]> =>
    (await this.bounds(topic)).map(({ high }) => high);

  readonly groupOffsets = async (group: string, topic: string): Promise<readonly (number | null)[]> => {
    const offsets = this.#groups.get(group)?.offsets;
    return this.#of(topic).map((_, partition) => offsets?.get(`${topic}/${partition}`) ?? null);
  };

  readonly bounds = async (topic: string): Promise<readonly Bounds[]> =>
    this.#of(topic).map((records) => ({ low: 0, high: records.length }));

  readonly read = async (
    topic: string,
    partition: number,
    { low, high }: Bounds,
    apply: (record: LogRecord) => void,
  ): Promise<void> => {
    await Promise.resolve();
    for (const record of this.partition(topic, partition).slice(low, high)) apply(record);
  };

  /** Record by record in turn, as a broker may answer. */
  readonly readRanges = async (
    ranges: readonly PartitionRange[],
    apply: (record: LogRecord) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    await Promise.resolve();
    let open = ranges.map(({ topic, partition, low, high }) => this.partition(topic, partition).slice(low, high));
    while (open.length > 0 && !signal.aborted) {
      for (const [record] of open) if (record !== undefined) apply(record);
      open = open.map((records) => records.slice(1)).filter((records) => records.length > 0);
    }
  };

  readonly fence = async (id: string): Promise<Transactor> => {
    const epoch = (this.#epochs.get(id) ?? 0) + 1;
    this.#epochs.set(id, epoch);
    const commit = async (records: readonly OutRecord[]) => {
      await Promise.resolve();
      if (this.#epochs.get(id) !== epoch) throw new Retry(`${id} was fenced`);
      this.append(records);
    };
    return { commit, close: async () => {} };
  };

  readonly write = async (records: readonly OutRecord[]): Promise<number | null> => {
    this.append(records);
    return records.some(({ topic }) => isCommand(topic)) ? this.#now() : null;
  };

  readonly join = async (member: Member): Promise<Membership> => {
    await Promise.resolve();
    for (const topic of member.topics) this.#of(topic);
    const group = this.#groups.get(member.group) ?? new MemoryGroup(this);
    this.#groups.set(member.group, group);
    return group.join(member);
  };

  readonly follow = async (
    topics: readonly string[],
    from: From,
    onRecord: (record: LogRecord) => void,
    signal: AbortSignal,
  ): Promise<Following> => {
    const deliver = (record: LogRecord) => topics.includes(record.topic) && onRecord(record);
    const begin = from === 'beginning' ? 0 : from;
    if (begin !== 'end')
      for (const topic of topics)
        this.records(topic)
          .filter(({ timestamp }) => timestamp >= begin)
          .forEach(deliver);
    this.#followers.add(deliver);
    signal.addEventListener('abort', () => this.#followers.delete(deliver), { once: true });
    return { ready: () => true };
  };

  async [Symbol.asyncDispose](): Promise<void> {
    for (const group of this.#groups.values()) await group.stop();
  }

  /**
   * For tests: writes records as any client would. On a command topic the log sets the timestamp, as the broker does.
   */
  append(records: readonly OutRecord[]): void {
    for (const out of records) {
      const log = this.partition(out.topic, out.partition);
      const stamped = out.topic.startsWith('onex.cmd.') ? undefined : out.timestamp;
      const record = { ...out, offset: log.length, timestamp: stamped ?? this.#now(), headers: out.headers ?? {} };
      log.push(record);
      for (const deliver of this.#followers) deliver(record);
    }
    for (const group of this.#groups.values()) group.wake();
  }

  /** For tests: writes an event from outside, with a random id, to its key's partition. */
  async publish(...drafts: readonly Draft[]): Promise<void> {
    await writer(this, Date.now).write(drafts);
  }

  /** For tests: writes bytes under a key, to the key's partition. */
  publishRaw(topic: string, key: string, value: Buffer | null, headers: Headers = {}): void {
    this.append([{ topic, partition: partitionOf(key, this.#of(topic).length), key, value, headers }]);
  }

  /**
   * For tests: writes a tick into every partition of a topic, from source partitions of the same number (`own`) or from
   * all `sources`.
   */
  tick(topic: string, sources?: number): void {
    this.append(
      this.#of(topic).flatMap((_, partition) =>
        Array.from({ length: sources ?? 1 }, (_, source) => source + (sources === undefined ? partition : 0)).map(
          (source) => ({ topic, partition, key: `${TICK}${source}`, value: null, timestamp: this.#now() }),
        ),
      ),
    );
  }

  /** For tests: all records of a topic, partition by partition. */
  records(topic: string): readonly LogRecord[] {
    return this.#of(topic).flat();
  }

  /** For tests: the events of a topic, without the runner's own marks. */
  events<T extends TopicName>(topic: T): readonly Extract<HealthEvent, { readonly topic: T }>[] {
    const events = this.records(topic).filter(({ key }) => !key?.startsWith('@'));
    return events.map((record) => eventOf(record, this.codec) as Extract<HealthEvent, { readonly topic: T }>);
  }

  /** For tests: resolves when every member of every group has read all there is. */
  async settled(): Promise<void> {
    const busy = () => [...this.#groups.values()].some((group) => !group.settled);
    while (busy()) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  partition(topic: string, partition: number): LogRecord[] {
    const log = this.#of(topic)[partition];
    if (log === undefined) throw new Refused(`${topic} has no partition ${partition}`);
    return log;
  }

  #of(topic: string): LogRecord[][] {
    const known = this.#topics.get(topic);
    if (known !== undefined) return known;
    const info = (catalogue as Readonly<Record<string, { partitions: string }>>)[topic];
    const partitions = info?.partitions === 'one' ? 1 : info ? this.#partitions : this.#counts[topic];
    if (partitions === undefined)
      throw new Refused(`there is no topic ${topic}: create it with \`vigil topics apply\``);
    const made = Array.from({ length: partitions }, () => []);
    this.#topics.set(topic, made);
    return made;
  }
}
