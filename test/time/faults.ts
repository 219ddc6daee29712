import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker, ServiceName, Supervised, System } from '@vigil/dev';

/** Something is away for `seconds`. `frozen`: SIGSTOP; `down`: refuses connections; `killed`: kill -9, and started again. */
type Kind = 'frozen' | 'down' | 'killed';
export type Fault = { readonly who: ServiceName | 'broker'; readonly kind: Kind; readonly seconds: number };

const fault = (who: Fault['who'], kind: Kind, ...lengths: number[]): Fault[] =>
  lengths.map((seconds) => ({ who, kind, seconds }));

/** A round through everything that can be away, for seconds to a minute. */
export const REGULAR: readonly Fault[] = [
  ...fault('heartbeat-ingest', 'frozen', 2, 4, 15),
  // Hangs of others are found meanwhile, after some twelve seconds on a host that has nothing else to do.
  ...fault('gateway', 'down', 25),
  ...fault('health-evaluator', 'frozen', 15),
  ...fault('broker', 'frozen', 2, 4, 15),
  ...fault('gateway', 'frozen', 4, 8),
  ...fault('broker', 'killed', 2),
  ...fault('heartbeat-ingest', 'killed', 0),
  ...fault('health-evaluator', 'killed', 0),
  ...fault('heartbeat-ingest', 'frozen', 62),
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
  ...long,
];

/** The long list, for VIGIL_SOAK=1: some twenty-five minutes. */
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

/** Resolves when what was away is back, or is about to be. */
export const commit = ({ who, kind, seconds }: Fault, system: System, broker: Broker): Promise<void> =>
  who === 'broker' ? toBroker(broker, kind, seconds * 1000) : toService(system.service(who), kind, seconds * 1000);
