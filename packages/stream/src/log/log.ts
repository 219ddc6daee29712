import type { Codec } from '@vigil/events';

export type Headers = Readonly<Record<string, string>>;

/**
 * A record of the log. `timestamp`: the broker's or the writer's, depending on the topic's configuration; epoch
 * milliseconds.
 */
export type LogRecord = {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string | null;
  readonly value: Buffer | null;
  readonly timestamp: number;
  readonly headers: Headers;
};

/** A record to be written. Without a timestamp it gets the moment of writing. */
export type OutRecord = {
  readonly topic: string;
  readonly partition: number;
  readonly key: string | null;
  readonly value: Buffer | null;
  readonly timestamp?: number;
  readonly headers?: Headers;
};

/** The first existing offset, and the offset of the next record, including unfinished transactions. */
export type Bounds = { readonly low: number; readonly high: number };

/** `[low, high)` of a partition. */
export type PartitionRange = Bounds & { readonly topic: string; readonly partition: number };

/**
 * The result of one fetch of one partition: committed records only. `fetched`: the requested offset; `next`: the one to
 * continue at; `end`: the end of the log.
 */
export type Batch = {
  readonly topic: string;
  readonly partition: number;
  readonly fetched: number;
  readonly next: number;
  readonly end: number;
  readonly records: readonly LogRecord[];
};

/** The writer of one transactional id. A later fence of the same id ends it: its next commit throws Retry. */
export type Transactor = {
  /** All records become visible together, or none. Throws Retry if the transactor was fenced. */
  readonly commit: (records: readonly OutRecord[]) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** One member of a group. Partition NUMBERS are assigned: a member has the same numbers of all its topics. */
export type Member = {
  readonly group: string;
  readonly topics: readonly string[];
  /** how long a fetch may wait for more, milliseconds: the interval of commits */
  readonly paceMs: number;
  /** its present partitions, which it keeps as far as balance allows */
  readonly held: () => readonly number[];
  /** revoke and assign in one. Every partition starts again at the group's offsets unless it is sought. Synchronous */
  readonly onAssigned: (partitions: ReadonlySet<number>, membership: Membership) => void;
  /** the group has received our heartbeat */
  readonly onHeartbeat: () => void;
  /** false: not taken; it is fetched again after a seek. One at a time a topic and partition */
  readonly take: (batch: Batch) => Promise<boolean>;
  /** a fetch had only control and aborted records */
  readonly onSkipped: (batch: Omit<Batch, 'records' | 'end'>) => void;
  /** the membership has ended for good */
  readonly onLost: (error: Error) => void;
};

export type Membership = {
  readonly seek: (topic: string, partition: number, offset: number) => void;
  /** `pause` and `resume` apply to this partition of all topics of the member. */
  readonly pause: (partition: number) => void;
  readonly resume: (partition: number) => void;
  /**
   * The group's offsets: where a member without positions of its own starts, and what lag tools read. Kafka's client
   * drops them without an error until `join` has resolved.
   */
  readonly publish: (offsets: readonly Position[]) => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type Position = { readonly topic: string; readonly partition: number; readonly offset: number };

/**
 * Where to begin reading: after all records committed now, at the first record, or at the first record at or after a
 * time (epoch milliseconds).
 */
export type From = 'end' | 'beginning' | number;

/** The log: Kafka, a file, or memory for tests. The same code runs on each; log.contract.ts tests their common contract. */
export type Log = AsyncDisposable & {
  readonly codec: Codec;
  readonly clusterId: () => Promise<string>;
  /** Throws Refused if a topic is missing. */
  readonly partitionCount: (topic: string) => Promise<number>;
  /** The bounds of each partition, by partition number. */
  readonly bounds: (topic: string) => Promise<readonly Bounds[]>;
  /** The last stable offsets, by partition: the first record of an unfinished transaction, or the end. */
  readonly stableEnds: (topic: string) => Promise<readonly number[]>;
  /** The published offsets of a group, by partition; null if none was published. */
  readonly groupOffsets: (group: string, topic: string) => Promise<readonly (number | null)[]>;
  /** Reads the committed records of `[low, high)` in order. */
  readonly read: (
    topic: string,
    partition: number,
    range: Bounds,
    apply: (record: LogRecord) => void,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Reads the committed records of several ranges at once: in order within a partition, and in any order between them. */
  readonly readRanges: (
    ranges: readonly PartitionRange[],
    apply: (record: LogRecord) => void,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Fences all other producers with this id, and waits until their finished transactions are visible. */
  readonly fence: (transactionalId: string) => Promise<Transactor>;
  /**
   * Outside transactions, acknowledged by all replicas, in the order of the calls. Resolves to the newest timestamp of
   * a broker; null: no broker stamps these topics.
   */
  readonly write: (records: readonly OutRecord[]) => Promise<number | null>;
  readonly join: (member: Member) => Promise<Membership>;
  /**
   * Reads all partitions of the topics until the signal is aborted, without a group of its own. Resolves when it has
   * begun. It restarts by itself when it no longer receives records.
   */
  readonly follow: (
    topics: readonly string[],
    from: From,
    onRecord: (record: LogRecord) => void,
    signal: AbortSignal,
  ) => Promise<Following>;
};

/** `ready`: whether the existing records are being read. */
export type Following = { readonly ready: () => boolean };
