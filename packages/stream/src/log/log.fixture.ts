import { vi } from 'vitest';
import type { Batch, Log, LogRecord, Member, OutRecord } from './log.ts';

/** A log under test. `topic` creates a topic with a name that is unique to the run. */
export type Subject = {
  readonly log: () => Log;
  readonly topic: (name: string, partitions: number) => Promise<string>;
};

export const until = (holds: () => void) => vi.waitFor(holds, { timeout: 60_000, interval: 10 });

export const out = (topic: string, key: string, rest: Partial<OutRecord> = {}): OutRecord => ({
  topic,
  partition: 0,
  key,
  value: Buffer.from(`value of ${key}`),
  ...rest,
});

export const readAll = async (log: Log, topic: string, partition = 0): Promise<readonly LogRecord[]> => {
  const records: LogRecord[] = [];
  const range = (await log.bounds(topic))[partition]!;
  await log.read(topic, partition, range, (record) => records.push(record), new AbortController().signal);
  return records;
};
export const keys = (records: readonly LogRecord[]) => records.map(({ key }) => key);

/** A member that accepts and stores each batch. */
export const listen = async (log: Log, group: string, topics: readonly string[], rest: Partial<Member> = {}) => {
  const received: LogRecord[] = [];
  let assigned: readonly number[] = [];
  const member: Member = {
    group,
    topics,
    paceMs: 10,
    held: () => assigned,
    onAssigned: (partitions) => {
      assigned = [...partitions].toSorted((a, b) => a - b);
    },
    onHeartbeat: () => {},
    take: async ({ records }: Batch) => {
      received.push(...records);
      return true;
    },
    onSkipped: () => {},
    onLost: (error) => {
      throw error;
    },
    ...rest,
  };
  const membership = await log.join(member);
  return { received, membership, assigned: () => assigned };
};
