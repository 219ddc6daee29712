import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ExitReason } from '@vigil/events';
import type { AgentSpec } from '../agent/agent-spec.ts';
import type { HostDeps } from '../deps.ts';
import { replaceLockFile } from '../state/lock-file.ts';

/** How the last life of a configured agent ended: what follows is recovery's, and no restart of its runtime starts it anew. */
export type PreviousRun = {
  readonly agentId: string;
  readonly taskId: string | null;
  readonly runtimeId: string;
  readonly instanceId: string;
  readonly reason: ExitReason;
  /** the end in words */
  readonly details: string;
};

/** One by this name of another runtime is another agent. */
const folder = (dir: string, runtimeId: string): string => join(dir, 'runtimes', `${runtimeId}.ended`);
export const previousRunFile = (dir: string, runtimeId: string, agentId: string): string =>
  join(folder(dir, runtimeId), `${agentId}.json`);

/** On the disk when it returns, or the log says why not. One that an order has spawned is in no configuration, and is not kept. */
export const savePreviousRun = (
  { dir, log }: Pick<HostDeps, 'dir' | 'log'>,
  spec: AgentSpec,
  { reason, details }: Pick<PreviousRun, 'reason' | 'details'>,
): void => {
  const { agentId, taskId, runtimeId, instanceId, orderId } = spec;
  if (orderId !== null) return;
  const path = previousRunFile(dir, runtimeId, agentId);
  try {
    replaceLockFile(path, { agentId, taskId, runtimeId, instanceId, reason, details } satisfies PreviousRun);
  } catch (error) {
    log('the end of an agent is not recorded: a restart after a crash of its runtime would start it again', {
      path,
      error: String(error),
    });
  }
};

/** The last life of this name of this runtime; null: none is known to have ended. */
export const previousRunOf = (dir: string, runtimeId: string, agentId: string): PreviousRun | null => {
  try {
    return JSON.parse(readFileSync(previousRunFile(dir, runtimeId, agentId), 'utf8')) as PreviousRun | null;
  } catch {
    return null;
  }
};

/** From now on this runtime begins anew with its configuration. */
export const forgetPreviousRuns = (dir: string, runtimeId: string): void =>
  rmSync(folder(dir, runtimeId), { recursive: true, force: true });
