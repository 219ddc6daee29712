import { type Servers, type ServiceName, type System, startSystem } from '@vigil/dev';
import { openSystem, type TestSystem } from '../../support/system.ts';
import { print } from './report.ts';

/** Separate servers, empty, and systems of services started on them. */
export type Ground = AsyncDisposable & {
  readonly test: TestSystem;
  readonly start: (services?: readonly ServiceName[]) => Promise<System & AsyncDisposable>;
};

export const RUNS = 3;
export const JUDGING = ['heartbeat-ingest', 'health-evaluator'] as const satisfies readonly ServiceName[];

/** Ctrl-C ends everything that was started before it ends the benchmark. */
const endOnSignal = (stop: () => Promise<void>): void => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().finally(() => process.exit(1)));
};

export const openGround = async (name: string): Promise<Ground> => {
  print('starting Kafka, the schema registry and Postgres …');
  const test = await openSystem({ name: `bench-${name}`, policy: 'vigil', services: [] });
  const systems = new Set<System>();
  let stopping: Promise<void> | undefined;
  const stopAll = async () => {
    await Promise.all([...systems].map((system) => system.stop()));
    await test.stop();
  };
  const stop = () => {
    stopping ??= stopAll();
    return stopping;
  };
  endOnSignal(stop);
  const start: Ground['start'] = async (services) => {
    const { servers, dir } = test;
    const options = { servers, dir, policy: 'vigil', inherited: process.env, onLine: print };
    const system = await startSystem({ ...options, ...(services && { services }) });
    systems.add(system);
    const end = async () => {
      systems.delete(system);
      await system.stop();
    };
    return { ...system, [Symbol.asyncDispose]: end };
  };
  return { test, start, [Symbol.asyncDispose]: stop };
};

/** The process ids of the broker and the services on this machine, by name. */
export const processes = (
  servers: Servers,
  system: System | null,
  services: readonly ServiceName[],
): ReadonlyMap<string, number> => {
  const pids: (readonly [string, number | null])[] = services.map((name) => [
    name,
    system?.service(name).pid() ?? null,
  ]);
  pids.push(['broker', servers.brokers[0]?.pid() ?? null]);
  return new Map(pids.filter((entry): entry is readonly [string, number] => entry[1] !== null));
};
