import { setTimeout as sleep } from 'node:timers/promises';
import { coordinatesGroups, type Placed, type Placement } from '@vigil/stream/placement';
import { type Faults, shuffled } from './faults.ts';
import { until } from './system.ts';

const isWhole = ({ leader, replicas, inSync }: Placed): boolean => leader >= 0 && inSync.length === replicas.length;

const every = (placement: Placement, holds: (placed: Placed) => boolean): Promise<boolean> =>
  placement.all().then(
    (all) => all.every(holds),
    () => false,
  );

/** Resolves when each partition has a leader and all its replicas are in sync. Only then may another broker fail. */
export const untilWhole = (placement: Placement): Promise<unknown> =>
  until('all replicas are in sync', () => every(placement, isWhole));

const rotated = (replicas: readonly number[], by: number): readonly number[] => [
  ...replicas.slice(by),
  ...replicas.slice(0, by),
];

/** The answer of a cluster, which is unavailable for a moment while leaders move. */
const answer = <T>(what: string, request: () => Promise<T>): Promise<T> =>
  until(what, () =>
    request().then(
      (given) => ({ given }),
      () => undefined,
    ),
  ).then(({ given }) => given);

const where = (placement: Placement): Promise<readonly Placed[]> => answer('where partitions lie', placement.all);
const assign = (placement: Placement, placed: Parameters<Placement['assign']>[0]): Promise<void> =>
  answer('partitions are assigned', () => placement.assign(placed));

const assigned = async (placement: Placement, change: (placed: Placed) => readonly number[]): Promise<void> => {
  const changed = (await where(placement)).map((placed) => ({ ...placed, replicas: change(placed) }));
  await assign(placement, changed);
  const first = new Map(changed.map(({ topic, partition, replicas }) => [`${topic}/${partition}`, replicas[0]]));
  await until('the preferred replicas lead', () =>
    every(placement, ({ topic, partition, leader }) => leader === first.get(`${topic}/${partition}`)),
  );
};

const anyTopic = (): boolean => true;
const coordinatesNoGroup = (topic: string): boolean => !coordinatesGroups(topic);

/** Makes a random replica of each partition its leader, in the broker's own topics too. All brokers must be up. */
export const moveLeaders = async (
  { done, random }: Faults,
  placement: Placement,
  moves: (topic: string) => boolean = anyTopic,
): Promise<void> => {
  await assigned(placement, ({ topic, replicas }) =>
    moves(topic) ? rotated(replicas, Math.floor(random() * replicas.length)) : replicas,
  );
  done.push('move leaders');
};

/**
 * Removes the leading replica, or another one, of each partition and adds it again empty, so that it is copied under
 * load.
 */
export const reassign = async ({ done, random }: Faults, placement: Placement): Promise<void> => {
  const before = await where(placement);
  const dropped = new Map(
    before.map((placed) => [placed, placed.replicas[Math.floor(random() * placed.replicas.length)]]),
  );
  const fewer = before.map((placed) => ({
    ...placed,
    replicas: placed.replicas.filter((id) => id !== dropped.get(placed)),
  }));
  await assign(placement, fewer);
  await until('partitions lie on two brokers', () => every(placement, ({ replicas }) => replicas.length === 2));
  await untilWhole(placement);
  const again = before.map((placed) => ({
    ...placed,
    replicas: shuffled(placed.replicas, random),
  }));
  await assign(placement, again);
  await until('partitions lie on three brokers', () => every(placement, ({ replicas }) => replicas.length === 3));
  await untilWhole(placement);
  done.push('reassign partitions');
};

const MOVES_PER_COORDINATOR_MOVE = 10;

/**
 * Moves leaders every 1 to 4 s until the signal. The coordinators of groups move with every tenth move only.
 * A rebalance takes several seconds and restarts when its coordinator moves, so with more moves no group would form.
 */
export const keepMoving = async (faults: Faults, placement: Placement, signal: AbortSignal): Promise<void> => {
  for (let move = 1; !signal.aborted; move++) {
    await moveLeaders(faults, placement, move % MOVES_PER_COORDINATOR_MOVE === 0 ? anyTopic : coordinatesNoGroup);
    await sleep(1000 + faults.random() * 3000);
  }
};
