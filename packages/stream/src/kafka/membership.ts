import type { Consumer, EachBatchPayload, Kafka, PartitionAssigner } from 'kafkajs';
import { Fatal } from '../errors.ts';
import type { Member, Membership } from '../log/log.ts';
import { shareOut } from '../log/partitioner.ts';
import type { Logger } from '../logger.ts';
import { within } from '../runner/within.ts';
import { AssignerProtocol, pastMoment } from './client.ts';
import { fetchedOf, fromClient } from './records.ts';

/** A fetch waits for this many bytes, or for the member's pace. So the broker's wait is the interval of commits. */
const FETCH_BYTES = 1_000_000;
/**
 * After an empty answer a fetch waits this long for its first record, milliseconds. A member notices a rebalance, and
 * a partition that has opened, between two fetches.
 */
const IDLE_WAIT_MS = 1000;
const REBALANCE_MS = 15_000;
const STOP_MS = 5000;
/** Milliseconds between two heartbeats to the group while a batch is taken. */
const BEAT_MS = 1000;

/** Joins a group as one member. Resolves with the first assignment. */
export const join = async (kafka: Kafka, member: Member, sessionMs: number, logger: Logger): Promise<Membership> => {
  const consumer = kafka.consumer({
    groupId: member.group,
    partitionAssigners: [coPartitionAssigner(member.held)],
    maxWaitTimeInMs: member.paceMs,
    idleWaitTimeInMs: IDLE_WAIT_MS,
    minBytes: FETCH_BYTES,
    sessionTimeout: sessionMs,
    rebalanceTimeout: REBALANCE_MS,
    heartbeatInterval: Math.min(1000, sessionMs / 5),
  });
  const membership = new KafkaMembership(consumer, member.topics);
  listen(consumer, member, membership, logger);
  await consumer.connect();
  await pastMoment(() => consumer.subscribe({ topics: [...member.topics], fromBeginning: true }));
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: 64,
    eachBatch: (payload) => give(member, payload),
  });
  return membership;
};

const listen = (consumer: Consumer, member: Member, membership: KafkaMembership, logger: Logger): void => {
  const { GROUP_JOIN, STOP, HEARTBEAT, CRASH, END_BATCH_PROCESS } = consumer.events;
  consumer.on(GROUP_JOIN, ({ payload }) => {
    membership.assignment = payload.memberAssignment;
    member.onAssigned(new Set(Object.values(payload.memberAssignment).flat()), membership);
  });
  // The client stops also when it restarts after a crash. Until it has joined again it has no partitions, and refuses to pause or seek one.
  consumer.on(STOP, () => {
    membership.assignment = {};
  });
  consumer.on(HEARTBEAT, member.onHeartbeat);
  consumer.on(CRASH, ({ payload: { error, restart } }) => {
    logger.warn({ group: member.group, err: error, restart }, 'the group client has crashed');
    if (!restart && !membership.stopped)
      member.onLost(new Fatal(`${member.group}: the group client has ended: ${error.message}`, { cause: error }));
  });
  consumer.on(END_BATCH_PROCESS, ({ payload: { topic, partition, batchSize, firstOffset, lastOffset } }) => {
    if (batchSize !== 0 || firstOffset === null) return;
    member.onSkipped({ topic, partition, fetched: Number(firstOffset), next: Number(lastOffset) + 1 });
  });
};

/** Sends heartbeats to the group while the member takes a batch, because a long one exceeds the session. */
const give = async (member: Member, { batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> => {
  const { topic, partition, messages } = batch;
  const given = {
    topic,
    partition,
    fetched: fetchedOf(batch),
    next: Number(batch.lastOffset()) + 1,
    end: Number(batch.highWatermark),
    records: messages.map((message) => fromClient(topic, partition, message)),
  };
  const beating = setInterval(() => void heartbeat().catch(() => {}), BEAT_MS);
  const taken = await member.take(given).finally(() => clearInterval(beating));
  if (taken) resolveOffset(batch.lastOffset());
  await heartbeat();
};

class KafkaMembership implements Membership {
  assignment: Readonly<Record<string, readonly number[]>> = {};
  stopped = false;
  readonly #consumer: Consumer;
  readonly #topics: readonly string[];

  constructor(consumer: Consumer, topics: readonly string[]) {
    this.#consumer = consumer;
    this.#topics = topics;
  }

  readonly seek = (topic: string, partition: number, offset: number): void => {
    if (this.assignment[topic]?.includes(partition)) this.#consumer.seek({ topic, partition, offset: String(offset) });
  };

  readonly pause = (partition: number): void => {
    const all = this.#all(partition);
    if (all.length > 0) this.#consumer.pause(all);
  };

  readonly resume = (partition: number): void => {
    const all = this.#all(partition);
    if (all.length > 0) this.#consumer.resume(all);
  };

  readonly publish: Membership['publish'] = (offsets) => {
    const mine = offsets.filter(({ topic, partition }) => this.assignment[topic]?.includes(partition));
    return this.#consumer.commitOffsets(mine.map((position) => ({ ...position, offset: String(position.offset) })));
  };

  readonly stop = async (): Promise<void> => {
    this.stopped = true;
    await within(STOP_MS, this.#consumer.disconnect(), 'leaving the group').catch(() => {});
  };

  #all(partition: number) {
    return this.#topics
      .filter((topic) => this.assignment[topic]?.includes(partition))
      .map((topic) => ({ topic, partitions: [partition] }));
  }
}

const NAME = 'vigil-co-partition';
const nothing = Buffer.alloc(0);

const heldBy = (metadata: Buffer): readonly number[] => {
  const { userData } = AssignerProtocol.MemberMetadata.decode(metadata) ?? { userData: nothing };
  return userData.length === 0 ? [] : (JSON.parse(userData.toString()) as number[]);
};

/**
 * Assigns the same partition numbers of all topics to one member. A member keeps its partitions as far as balance
 * allows.
 */
export const coPartitionAssigner =
  (held: () => readonly number[]): PartitionAssigner =>
  ({ cluster }) => ({
    name: NAME,
    version: 1,
    protocol: ({ topics }) => ({
      name: NAME,
      metadata: AssignerProtocol.MemberMetadata.encode({
        version: 1,
        topics,
        userData: Buffer.from(JSON.stringify(held())),
      }),
    }),
    assign: async ({ members, topics }) => {
      const counts = new Map(topics.map((topic) => [topic, cluster.findTopicPartitionMetadata(topic).length]));
      const candidates = members.map(({ memberId, memberMetadata }) => ({
        id: memberId,
        held: heldBy(memberMetadata),
      }));
      const shares = shareOut(candidates, Math.max(...counts.values()));
      return [...shares].map(([memberId, mine]) => {
        const within = ([topic, count]: [string, number]) => [topic, mine.filter((p) => p < count)] as const;
        const assignment = Object.fromEntries([...counts].map(within));
        return {
          memberId,
          memberAssignment: AssignerProtocol.MemberAssignment.encode({ version: 1, assignment, userData: nothing }),
        };
      });
    },
  });
