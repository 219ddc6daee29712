import type { TopicInfo } from '@vigil/events';

/** How long a topic keeps its records: for ever, the newest of each key, or an age in milliseconds. */
export type Keep = 'forever' | 'compact' | number;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const keepOf = ({ retention }: TopicInfo): Keep => {
  if (retention === 'forever' || retention === 'compact') return retention;
  return Number.parseInt(retention, 10) * (retention.endsWith('h') ? HOUR_MS : DAY_MS);
};

/** `many`: the partitions of the agent and task key spaces. */
export const partitionsOf = ({ partitions }: TopicInfo, many: number): number => (partitions === 'one' ? 1 : many);
