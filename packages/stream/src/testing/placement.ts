import type { KafkaAccess } from '../kafka/access.ts';
import { openClients } from '../kafka/client.ts';
import { silentLogger } from '../logger.ts';
import { within } from '../runner/within.ts';

/** The brokers of a partition, by id. `leader`: -1 if there is none; `replicas`: the preferred leader first. */
export type Placed = {
  readonly topic: string;
  readonly partition: number;
  readonly leader: number;
  readonly replicas: readonly number[];
  readonly inSync: readonly number[];
};

/**
 * The placement of a cluster's partitions, internal topics included. Each call may throw while a broker is unreachable.
 */
export type Placement = {
  readonly all: () => Promise<readonly Placed[]>;
  /**
   * Requests a reassignment of partitions, or another preferred leader, from the controller. It answers before the move
   * is done.
   */
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
