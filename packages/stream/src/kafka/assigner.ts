import type { PartitionAssigner } from 'kafkajs';
import { shareOut } from '../log/sharing.ts';
import { AssignerProtocol } from './client.ts';

const NAME = 'vigil-co-partition';
const nothing = Buffer.alloc(0);

const heldBy = (metadata: Buffer): readonly number[] => {
  const { userData } = AssignerProtocol.MemberMetadata.decode(metadata) ?? { userData: nothing };
  return userData.length === 0 ? [] : (JSON.parse(userData.toString()) as number[]);
};

/** Assigns partition numbers, those of all topics together, and leaves with a member what it has where balance allows. */
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
