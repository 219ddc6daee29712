import type { KafkaAccess } from '../kafka/access.ts';
import { openClients } from '../kafka/client.ts';
import { silentLogger } from '../logger.ts';
import { within } from '../runner/within.ts';

/**
 * Where a partition is stored, by broker ids. `leader`: -1 without a leader; `replicas`: the preferred leader first.
 */
export type Placed = {
  readonly topic: string;
  readonly partition: number;
  readonly leader: number;
  readonly replicas: readonly number[];
  readonly inSync: readonly number[];
};

/** Partitions of a cluster, those of the broker's own topics included, and where they lie. Each call may throw while a broker is away. */
export type Placement = {
  readonly all: () => Promise<readonly Placed[]>;
  /** Has the controller place partitions on other replicas, or name another preferred leader; it answers before they are there. */
  readonly assign: (placed: readonly Pick<Placed, 'topic' | 'partition' | 'replicas'>[]) => Promise<void>;
} & AsyncDisposable;

/** Whether the leaders of the topic's partitions are the coordinators of consumer groups. */
export const coordinatesGroups = (topic: string): boolean => topic === '__consumer_offsets';

const ANSWER_MS = 10_000;

/** For tests that move partitions while others write to them. */
export const connectPlacement = async (kafka: KafkaAccess): Promise<Placement> => {
  const admin = openClients(kafka, 'placement', silentLogger).admins.admin();
  await admin.connect();
  return {
    all: async () => {
      const { topics } = await within(ANSWER_MS, admin.fetchTopicMetadata(), 'where partitions lie');
      return topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionId, leader, replicas, isr }) => ({
          topic: name,
          partition: partitionId,
          leader,
          replicas,
          inSync: isr,
        })),
      );
    },
    assign: async (placed) => {
      const topics = [...Map.groupBy(placed, ({ topic }) => topic)].map(([topic, of]) => ({
        topic,
        partitionAssignment: of.map(({ partition, replicas }) => ({ partition, replicas: [...replicas] })),
      }));
      await within(ANSWER_MS, admin.alterPartitionReassignments({ topics }), 'moving partitions');
    },
    [Symbol.asyncDispose]: () => admin.disconnect(),
  };
};
