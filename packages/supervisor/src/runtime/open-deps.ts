import { join } from 'node:path';
import type { RuntimeDeps } from '../deps.ts';
import { type Address, connectGateway } from '../gateway/gateway-client.ts';
import { Outbox, outboxFolder } from '../gateway/outbox.ts';
import type { Report } from '../orders/order.ts';
import { PolicyPatternCache } from '../output/policy-patterns.ts';
import { identify } from '../process/proc.ts';
import { openJournal } from '../state/journal.ts';
import { removeLockDrafts, takeRuntime } from '../state/lock.ts';
import { openStateDir } from '../state/own-folder.ts';

export type DepsSettings = Pick<
  RuntimeDeps,
  'dir' | 'socketDir' | 'cgroups' | 'clock' | 'logger' | 'onReach' | 'newId' | 'clients'
> & {
  readonly gateway: Address;
  readonly pid: number;
};

export type OpenDeps = Omit<RuntimeDeps, 'onOrders'> & { readonly close: () => void };

/** Once: how the processes of agents are found, and why not better. */
const logCgroups = ({ cgroups, logger }: Pick<DepsSettings, 'cgroups' | 'logger'>): void => {
  if (cgroups.kind === 'available') logger('each agent runs in a cgroup of its own', cgroups);
  else logger('agents have no cgroups: their processes are found by session and environment', cgroups);
};

/** SIGKILL 5 s after SIGTERM. */
const KILL_AFTER_MS = 5000;

/**
 * Opens what a supervisor by this runtime id needs: its journal, its outbox for this gateway, the way to the gateway.
 * @throws AlreadySupervised where another process is this runtime; WrongSettings where another user owns the folder; StateUnwritable
 */
export const openDeps = (runtimeId: string, { gateway: address, pid, ...settings }: DepsSettings): OpenDeps => {
  const { dir, clock, logger } = settings;
  const gateway = connectGateway(address, clock);
  const policyPatterns = new PolicyPatternCache({ gateway, clock, logger });
  openStateDir(dir);
  logCgroups(settings);
  removeLockDrafts(dir);
  const self = identify(pid);
  const letGo = takeRuntime(dir, runtimeId, self);
  const journal = openJournal(join(dir, 'journal', `${runtimeId}.jsonl`), logger);
  const onSent = ({ type, payload }: Report) => {
    if (type === 'ORDER_RECEIPT' || type === 'SPAWN_RECEIPT') journal.write({ kind: 'sent', orderId: payload.orderId });
  };
  const outbox = new Outbox(outboxFolder(dir, address.url), self, gateway, logger, onSent);
  for (const report of journal.unsent) outbox.put(report);
  const close = () => {
    outbox.close();
    journal.close();
    letGo();
  };
  return {
    ...settings,
    self,
    gateway,
    policyPatterns,
    outbox,
    journal,
    killAfterMs: KILL_AFTER_MS,
    close,
    workOf: () => null,
  };
};
