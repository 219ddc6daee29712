import { Refused } from '../errors.ts';
import type { Bounds, Log } from '../log/log.ts';
import { POSITION_KEY } from '../processor/partition-task.ts';
import { snapshotTopic } from '../processor/topology.ts';

export type Move = {
  readonly processor: string;
  readonly topic: string;
  readonly partition: number;
  readonly to: 'beginning' | 'end' | number;
};

type Found = { readonly position: Record<string, unknown>; readonly readTo: number };

/** The newest value of a position in the snapshot after `before`, or that of `before` if there is no newer one. */
const positionIn = async (log: Log, { processor, topic, partition }: Move, before: Found | null): Promise<Found> => {
  const snapshot = snapshotTopic(processor);
  const bounds = (await log.bounds(snapshot))[partition];
  if (bounds === undefined) throw new Refused(`${snapshot} has no partition ${partition}`);
  const range = { low: Math.max(bounds.low, before?.readTo ?? 0), high: bounds.high };
  let found = before?.position ?? {};
  await log.read(
    snapshot,
    partition,
    range,
    ({ key, value }) => {
      if (key === `${POSITION_KEY}${topic}` && value !== null) found = JSON.parse(value.toString());
    },
    new AbortController().signal,
  );
  return { position: found, readTo: range.high };
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
 * so the records in between are skipped or decided again. The task that owns the partition is fenced, and continues at
 * the new position.
 * @throws Refused if the offset is outside the topic
 */
export const movePosition = async (
  log: Log,
  move: Move,
): Promise<{ readonly from: number | null; readonly to: number }> => {
  const { processor, topic, partition } = move;
  const to = wanted(move, (await log.bounds(topic))[partition]);
  // The owner fences the partition again within seconds. So the snapshot is read before the fence, and only its newest records
  // after.
  const before = await positionIn(log, move, null);
  const transactor = await log.fence(`${processor}-${partition}`);
  try {
    const { position } = await positionIn(log, move, before);
    if (position.clock === undefined)
      throw new Refused(`${processor} has never read ${topic}/${partition}: there is no position to move`);
    const value = Buffer.from(JSON.stringify({ ...position, next: to }));
    await transactor.commit([{ topic: snapshotTopic(processor), partition, key: `${POSITION_KEY}${topic}`, value }]);
    return { from: Number(position.next), to };
  } finally {
    await transactor.close();
  }
};
