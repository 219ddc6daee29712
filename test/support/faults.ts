import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker, ServiceName, Supervised, System } from '@vigil/dev';
import { until } from './system.ts';

/** The descriptions of a system's faults, in order. */
export type Faults = { readonly done: string[]; readonly random: () => number };

/** Random numbers between 0 and 1 from a seed (mulberry32), so that a run can be repeated. */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

export const shuffled = <T>(items: readonly T[], random: () => number): readonly T[] =>
  items
    .map((item) => ({ item, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item);

/** Kills a running process; its supervisor restarts it. */
export const kill = async ({ done }: Faults, service: Supervised): Promise<void> => {
  await until(`${service.name} runs`, async () => service.pid() !== null);
  service.kill('SIGKILL');
  done.push(`kill ${service.name}`);
};

/**
 * Kills each of them, in random order, `rounds` times, at random times up to `apartMs` apart, also while the previous
 * ones still restart.
 */
export const killAll = async (
  faults: Faults,
  services: readonly Supervised[],
  { rounds, apartMs }: { readonly rounds: number; readonly apartMs: number },
): Promise<void> => {
  for (let round = 0; round < rounds; round++)
    for (const service of shuffled(services, faults.random)) {
      await sleep(faults.random() * apartMs);
      await kill(faults, service);
    }
};

/**
 * Stops processes for longer than their groups wait for them, so that others take their partitions over, and continues
 * them as zombies.
 */
export const freezeAll = async ({ done }: Faults, services: readonly Supervised[], ms: number): Promise<void> => {
  for (const service of services) service.freeze();
  await sleep(ms);
  for (const service of services) service.thaw();
  done.push(...services.map(({ name }) => `stop ${name} for ${ms / 1000} s`));
};

/**
 * Runs another instance of each for a while. Partitions move to them, and the first ones are stopped for longer than
 * their session. One of the new ones is ended at once, and all new ones leave.
 */
export const addAndRemove = async (
  faults: Faults,
  system: System,
  services: readonly ServiceName[],
  { frozen, frozenMs }: { readonly frozen: readonly ServiceName[]; readonly frozenMs: number },
): Promise<void> => {
  const added = await Promise.all(services.map((name) => system.another(name)));
  faults.done.push(...added.map(({ name }) => `add ${name}`));
  await freezeAll(
    faults,
    frozen.map((name) => system.service(name)),
    frozenMs,
  );
  await kill(faults, added[Math.floor(faults.random() * added.length)] as Supervised);
  await sleep(faults.random() * 3000);
  await Promise.all(added.map((service) => service.stop()));
  faults.done.push(...added.map(({ name }) => `remove ${name}`));
};

const any = (brokers: readonly Broker[], random: () => number): { readonly broker: Broker; readonly id: number } => {
  const place = Math.floor(random() * brokers.length);
  return { broker: brokers[place] as Broker, id: place + 1 };
};

/** Kills a broker and restarts it. */
export const killBroker = async ({ done, random }: Faults, brokers: readonly Broker[]): Promise<void> => {
  const { broker, id } = any(brokers, random);
  await broker.kill('SIGKILL');
  await broker.restart();
  done.push(`kill broker ${id}`);
};

/** Shuts a broker down cleanly, as a deployment does, and restarts it. */
export const restartBroker = async ({ done, random }: Faults, brokers: readonly Broker[]): Promise<void> => {
  const { broker, id } = any(brokers, random);
  await broker.restart();
  done.push(`restart broker ${id}`);
};

/** A broker stops in the middle of its work, and continues. Another may lead its partitions by then. */
export const freezeBroker = async ({ done, random }: Faults, brokers: readonly Broker[]): Promise<void> => {
  const { broker, id } = any(brokers, random);
  const ms = 4000 + Math.round(random() * (brokers.length > 1 ? 16_000 : 6000));
  await broker.kill('SIGSTOP');
  await sleep(ms);
  await broker.kill('SIGCONT');
  done.push(`stop broker ${id} for ${ms / 1000} s`);
};
