import { join } from 'node:path';
import type { Log, MachineClock } from '../clock.ts';
import type { RuntimeDeps } from '../deps.ts';
import { type Address, connectGateway } from '../gateway/gateway-client.ts';
import { openOutbox, outboxFolder } from '../gateway/outbox.ts';
import type { Report } from '../orders/order.ts';
import { PolicyPatternCache } from '../output/policy-patterns.ts';
import { identify } from '../process/proc.ts';
import { openJournal } from '../state/journal.ts';
import { removeLockDrafts, takeRuntime } from '../state/lock.ts';
import { openStateDir } from '../state/own-folder.ts';

export type DepsSettings = {
  readonly dir: string;
  readonly socketDir: string;
  readonly gateway: Address;
  readonly pid: number;
  readonly clock: MachineClock;
  readonly log: Log;
  readonly onReach: RuntimeDeps['onReach'];
  readonly newId: () => string;
  readonly clients: RuntimeDeps['clients'];
};

export type OpenDeps = Omit<RuntimeDeps, 'onOrders'> & { readonly close: () => void };

/** SIGKILL 5 s after SIGTERM. */
const killAfterMs = 5000;

/**
 * Opens what a supervisor by this runtime id needs: its journal, its outbox for this gateway, the way to the gateway.
 * @throws AlreadySupervised where another process is this runtime; WrongSettings where another user owns the folder; StateUnwritable
 */
export const openDeps = (runtimeId: string, settings: DepsSettings): OpenDeps => {
  const { dir, socketDir, clock, log, onReach, newId, clients } = settings;
  const gateway = connectGateway(settings.gateway, clock);
  const policyPatterns = new PolicyPatternCache({ gateway, clock, log });
  openStateDir(dir);
  removeLockDrafts(dir);
  const self = identify(settings.pid);
  const letGo = takeRuntime(dir, runtimeId, self);
  const journal = openJournal(join(dir, 'journal', `${runtimeId}.jsonl`), log);
  const onSent = ({ type, payload }: Report) => {
    if (type === 'ORDER_RECEIPT' || type === 'SPAWN_RECEIPT') journal.write({ kind: 'sent', orderId: payload.orderId });
  };
  const outbox = openOutbox(outboxFolder(dir, settings.gateway.url), self, gateway, log, onSent);
  for (const report of journal.unsent) outbox.put(report);
  const close = () => {
    outbox.close();
    journal.close();
    letGo();
  };
  return {
    dir,
    socketDir,
    self,
    gateway,
    policyPatterns,
    outbox,
    journal,
    clock,
    log,
    onReach,
    newId,
    clients,
    killAfterMs,
    close,
    workOf: () => null,
  };
};
