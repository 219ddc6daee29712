import { randomUUID } from 'node:crypto';
import { Refused } from '../errors.ts';
import type { Bounds, Log, LogRecord } from '../log/log.ts';
import { claim, released } from '../processor/ownership.ts';
import { POSITION_KEY } from '../processor/partition-task.ts';
import { SharedWriter } from '../processor/shared-writer.ts';
import { snapshotTopic } from '../processor/topology.ts';

export type Move = {
  readonly processor: string;
  readonly topic: string;
  readonly partition: number;
  readonly to: 'beginning' | 'end' | number;
};

const wanted = ({ topic, partition, to }: Move, bounds: Bounds | undefined): number => {
  if (bounds === undefined) throw new Refused(`${topic} has no partition ${partition}`);
  if (to === 'beginning') return bounds.low;
  if (to === 'end') return bounds.high;
  if (to < bounds.low || to > bounds.high)
    throw new Refused(`${to} is outside ${topic}/${partition}, which reaches from ${bounds.low} to ${bounds.high}`);
  return to;
};

/**
 * Moves the position from which a processor reads a partition; this is the only way to do so. The state stays as it is,
 * so the records in between are skipped or decided again. The instance that owns the partition is fenced: it opens all
 * its partitions again, and continues this one at the new position.
 * @throws Refused if the offset is outside the topic, Retry if the owner has claimed the partition again in the meantime
 */
export const movePosition = async (
  log: Log,
  move: Move,
): Promise<{ readonly from: number | null; readonly to: number }> => {
  const { processor, topic, partition } = move;
  const to = wanted(move, (await log.bounds(topic))[partition]);
  const snapshot = { topic: snapshotTopic(processor), partition };
  const key = POSITION_KEY + topic;
  const low = (await log.bounds(snapshot.topic))[partition]?.low;
  if (low === undefined) throw new Refused(`${snapshot.topic} has no partition ${partition}`);
  const id = `${processor}-${randomUUID()}`;
  const writer = new SharedWriter({ log, id, former: new Set(), onCommitted: () => {} });
  let position: Readonly<Record<string, unknown>> = {};
  const find = (record: LogRecord) => {
    if (record.key === key && record.value !== null) position = JSON.parse(record.value.toString());
  };
  try {
    await claim({ log, ...snapshot, low, writer, releaseMs: 0 }, find, new AbortController().signal);
    if (position.clock === undefined)
      throw new Refused(`${processor} has never read ${topic}/${partition}: there is no position to move`);
    await writer.commit([{ ...snapshot, key, value: Buffer.from(JSON.stringify({ ...position, next: to })) }]);
    return { from: Number(position.next), to };
  } finally {
    await writer.commit([released(snapshot.topic, partition, id)]).catch(() => {});
    await writer.close();
  }
};
