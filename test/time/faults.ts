import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker, ServiceName, Supervised } from '@vigil/dev';
import { moveLeaders, reassign, untilWhole } from '../support/cluster.ts';
import { randomFrom } from '../support/faults.ts';
import { isCluster, type TestSystem } from '../support/system.ts';

/**
 * A part is unavailable for `seconds`. `frozen`: SIGSTOP; `down`: refuses connections; `killed`: kill -9, and started
 * again.
 */
type Kind = 'frozen' | 'down' | 'killed';
/** `moved`: leaders, of a cluster; `reassigned`: partitions of a cluster are copied */
export type Fault =
  | { readonly who: ServiceName | 'broker'; readonly kind: Kind; readonly seconds: number }
  | { readonly who: 'cluster'; readonly kind: 'moved' | 'reassigned'; readonly seconds: number };

const fault = (who: ServiceName | 'broker', kind: Kind, ...lengths: number[]): Fault[] =>
  lengths.map((seconds) => ({ who, kind, seconds }));

/** Faults that need several brokers. */
const CLUSTER: readonly Fault[] = isCluster
  ? (['moved', 'reassigned', 'moved'] as const).map((kind) => ({ who: 'cluster', kind, seconds: 0 }))
  : [];

/** Faults of every part, from seconds to half a minute; longer in the long list. */
export const REGULAR: readonly Fault[] = [
  ...fault('heartbeat-ingest', 'frozen', 15),
  // Hangs of other agents are found in the meantime, after some twelve seconds on an idle host.
  ...fault('gateway', 'down', 25),
  ...fault('health-evaluator', 'frozen', 15),
  ...fault('broker', 'frozen', 8),
  ...fault('broker', 'killed', 2),
  ...fault('heartbeat-ingest', 'killed', 0),
  ...fault('health-evaluator', 'killed', 0),
  ...CLUSTER,
];

const LENGTHS = [2, 4, 8, 15] as const;
const soakRound = (long: readonly Fault[]): Fault[] => [
  ...fault('heartbeat-ingest', 'frozen', ...LENGTHS),
  ...fault('gateway', 'down', ...LENGTHS),
  ...fault('broker', 'frozen', ...LENGTHS),
  ...fault('health-evaluator', 'frozen', ...LENGTHS),
  ...fault('gateway', 'frozen', ...LENGTHS),
  ...fault('heartbeat-ingest', 'down', 8, 15),
  ...fault('health-evaluator', 'down', 8),
  ...fault('broker', 'killed', 0, 2, 8),
  ...fault('gateway', 'killed', 0),
  ...fault('heartbeat-ingest', 'killed', 0, 0),
  ...CLUSTER,
  ...long,
];

/** The long list, for `npm test long`: some twenty-five minutes. */
export const SOAK: readonly Fault[] = [
  ...soakRound([...fault('heartbeat-ingest', 'frozen', 65), ...fault('broker', 'frozen', 65)]),
  ...soakRound([...fault('gateway', 'down', 65), ...fault('health-evaluator', 'frozen', 65)]),
  ...soakRound([...fault('broker', 'killed', 62), ...fault('heartbeat-ingest', 'down', 120)]),
];

/** Kills it as often as its supervisor starts it again. */
const holdDown = async (service: Supervised, ms: number): Promise<void> => {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(50)) service.kill('SIGKILL');
};

const toService = async (service: Supervised, kind: Kind, ms: number): Promise<void> => {
  switch (kind) {
    case 'frozen':
      service.freeze();
      await sleep(ms);
      return service.thaw();
    case 'down':
      return holdDown(service, ms);
    case 'killed':
      return service.kill('SIGKILL');
  }
};

const toBroker = async (broker: Broker, kind: Kind, ms: number): Promise<void> => {
  switch (kind) {
    case 'frozen':
      await broker.kill('SIGSTOP');
      await sleep(ms);
      return broker.kill('SIGCONT');
    case 'down':
    case 'killed':
      await broker.kill('SIGKILL');
      await sleep(ms);
      return broker.restart();
  }
};

const random = randomFrom(1);

/**
 * Resolves when the faulty part is back, or about to be. Only one of several brokers is down at a time; `turn` selects
 * it.
 */
export const commit = async (fault: Fault, { system, servers, placement }: TestSystem, turn: number): Promise<void> => {
  const { brokers } = servers;
  const ms = fault.seconds * 1000;
  if (fault.who === 'cluster')
    return fault.kind === 'moved'
      ? moveLeaders({ done: [], random }, placement)
      : reassign({ done: [], random }, placement);
  if (fault.who !== 'broker') return toService(system.service(fault.who), fault.kind, ms);
  const broker = brokers[turn % brokers.length];
  if (broker === undefined) throw new Error('the broker is not ours to end');
  await toBroker(broker, fault.kind, ms);
  if (brokers.length > 1) await untilWhole(placement);
};
