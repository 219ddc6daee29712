import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from './agent.ts';
import type { Log, MachineClock } from './clock.ts';
import { type Address, connectGateway } from './gateway-client.ts';
import { openJournal } from './journal.ts';
import { openOutbox } from './outbox.ts';
import { PolicyWatches } from './policy-watches.ts';
import { identify } from './proc.ts';

export type WorldSettings = {
  readonly dir: string;
  readonly socketDir: string;
  readonly gateway: Address;
  readonly pid: number;
  readonly clock: MachineClock;
  readonly log: Log;
  readonly newId: () => string;
};

export type OpenWorld = Omit<World, 'onOrders'> & { readonly close: () => void };

/** SIGKILL 5 s after SIGTERM. */
const killAfterMs = 5000;

/** Opens what a supervisor by this runtime id needs: its journal, the outbox of this folder, the way to the gateway. */
export const openWorld = (runtimeId: string, settings: WorldSettings): OpenWorld => {
  const { dir, socketDir, clock, log, newId } = settings;
  // what agents print and are told is nobody else's business on this host
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const self = identify(settings.pid);
  const gateway = connectGateway(settings.gateway, clock);
  const watches = new PolicyWatches({ gateway, clock, log });
  const journal = openJournal(join(dir, 'journal', `${runtimeId}.jsonl`));
  const outbox = openOutbox(join(dir, 'outbox'), self, gateway, log);
  const close = () => {
    outbox.close();
    journal.close();
  };
  return {
    dir,
    socketDir,
    self,
    gateway,
    watches,
    outbox,
    journal,
    clock,
    log,
    newId,
    killAfterMs,
    close,
    workOf: () => null,
  };
};
