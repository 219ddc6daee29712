import type { Batch, LogRecord, Member, Membership, Position } from '../../log/log.ts';
import { partitionKey, shareOut } from '../../log/partitioner.ts';

const HEARTBEAT_MS = 20;
const BATCH = 100;

type Source = {
  readonly partition: (topic: string, partition: number) => readonly LogRecord[];
  readonly partitionCount: (topic: string) => Promise<number>;
};

/** A group of the in-memory log: members, assigned partitions and published offsets. */
export class MemoryGroup {
  readonly offsets = new Map<string, number>();
  readonly source: Source;
  readonly #members = new Map<string, MemoryMember>();
  #joined = 0;

  constructor(source: Source) {
    this.source = source;
  }

  async join(member: Member): Promise<Membership> {
    const counts = new Map<string, number>();
    for (const topic of member.topics) counts.set(topic, await this.source.partitionCount(topic));
    this.#joined += 1;
    const id = String(this.#joined).padStart(6, '0');
    const joined = new MemoryMember(this, member, counts, () => {
      if (this.#members.delete(id)) this.#rebalance();
    });
    this.#members.set(id, joined);
    this.#rebalance();
    return joined;
  }

  wake(): void {
    for (const member of this.#members.values()) member.wake();
  }

  get settled(): boolean {
    return [...this.#members.values()].every(({ settled }) => settled);
  }

  async stop(): Promise<void> {
    for (const member of [...this.#members.values()]) await member.stop();
  }

  #rebalance(): void {
    const members = [...this.#members].map(([id, { member }]) => ({ id, held: member.held() }));
    if (members.length === 0) return;
    const most = Math.max(...[...this.#members.values()].flatMap(({ counts }) => [...counts.values()]));
    const shares = shareOut(members, most);
    for (const [id, member] of this.#members) member.assign(new Set(shares.get(id)));
  }
}

type Reading = { position: number; busy: boolean; declined: boolean };

class MemoryMember implements Membership {
  readonly member: Member;
  readonly counts: ReadonlyMap<string, number>;
  readonly #group: MemoryGroup;
  readonly #left: () => void;
  readonly #heartbeats: NodeJS.Timeout;
  #readings = new Map<string, Reading>();
  #assigned: ReadonlySet<number> = new Set();
  readonly #paused = new Set<number>();

  constructor(group: MemoryGroup, member: Member, counts: ReadonlyMap<string, number>, left: () => void) {
    this.#group = group;
    this.member = member;
    this.counts = counts;
    this.#left = left;
    this.#heartbeats = setInterval(member.onHeartbeat, HEARTBEAT_MS).unref();
  }

  assign(partitions: ReadonlySet<number>): void {
    this.#assigned = partitions;
    this.#readings = new Map(
      this.#mine().map(([topic, partition]) => {
        const key = partitionKey(topic, partition);
        return [key, { position: this.#group.offsets.get(key) ?? 0, busy: false, declined: false }];
      }),
    );
    this.member.onAssigned(partitions, this);
    this.wake();
  }

  get settled(): boolean {
    return this.#mine().every(([topic, partition]) => {
      const reading = this.#readings.get(partitionKey(topic, partition));
      return !reading?.busy && reading?.position === this.#group.source.partition(topic, partition).length;
    });
  }

  readonly seek = (topic: string, partition: number, offset: number): void => {
    this.#readings.set(partitionKey(topic, partition), { position: offset, busy: false, declined: false });
    this.wake();
  };

  readonly pause = (partition: number): void => void this.#paused.add(partition);

  readonly resume = (partition: number): void => {
    this.#paused.delete(partition);
    this.wake();
  };

  readonly publish = async (offsets: readonly Position[]): Promise<void> => {
    for (const { topic, partition, offset } of offsets) this.#group.offsets.set(partitionKey(topic, partition), offset);
  };

  readonly stop = async (): Promise<void> => {
    clearInterval(this.#heartbeats);
    this.#assigned = new Set();
    this.#readings = new Map();
    this.#left();
  };

  wake(): void {
    for (const [topic, partition] of this.#mine()) setImmediate(() => void this.#give(topic, partition));
  }

  #mine(): readonly (readonly [topic: string, partition: number])[] {
    return [...this.counts].flatMap(([topic, count]) =>
      [...this.#assigned].filter((partition) => partition < count).map((partition) => [topic, partition] as const),
    );
  }

  /** A declined batch waits for a seek, which starts a new reading. */
  async #give(topic: string, partition: number): Promise<void> {
    const reading = this.#readings.get(partitionKey(topic, partition));
    const log = this.#group.source.partition(topic, partition);
    if (reading === undefined || reading.busy || reading.declined || this.#paused.has(partition)) return;
    if (reading.position >= log.length) return;
    const fetched = reading.position;
    const records = log.slice(fetched, fetched + BATCH);
    const batch: Batch = { topic, partition, fetched, next: fetched + records.length, end: log.length, records };
    reading.busy = true;
    const taken = await this.member.take(batch);
    reading.busy = false;
    reading.declined = !taken;
    if (taken) reading.position = batch.next;
    setImmediate(() => void this.#give(topic, partition));
  }
}
