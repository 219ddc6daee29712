import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ExitReason } from '@vigil/events';
import type { AgentSpec } from '../agent/agent-spec.ts';
import type { HostDeps } from '../deps.ts';
import { replaceLockFile } from '../state/lock.ts';

/** How the last run of a configured agent ended. Recovery decides what follows, so a restart of the runtime does not start it again. */
export type PreviousRun = {
  readonly agentId: string;
  readonly taskId: string | null;
  readonly runtimeId: string;
  readonly instanceId: string;
  readonly reason: ExitReason;
  /** the end as a sentence */
  readonly details: string;
};

/** One by this name of another runtime is another agent. */
const folder = (dir: string, runtimeId: string): string => join(dir, 'runtimes', `${runtimeId}.ended`);
export const previousRunFile = (dir: string, runtimeId: string, agentId: string): string =>
  join(folder(dir, runtimeId), `${agentId}.json`);

/** On the disk when it returns, or the log has the error. An agent that an order spawned is not in the configuration, and not recorded. */
export const savePreviousRun = (
  { dir, logger }: Pick<HostDeps, 'dir' | 'logger'>,
  spec: AgentSpec,
  { reason, details }: Pick<PreviousRun, 'reason' | 'details'>,
): void => {
  const { agentId, taskId, runtimeId, instanceId, orderId } = spec;
  if (orderId !== null) return;
  const path = previousRunFile(dir, runtimeId, agentId);
  try {
    replaceLockFile(path, { agentId, taskId, runtimeId, instanceId, reason, details } satisfies PreviousRun);
  } catch (error) {
    logger('the end of an agent is not recorded: a restart after a crash of its runtime would start it again', {
      path,
      error: String(error),
    });
  }
};

/** The last run of this name under this runtime; null: no end is recorded. */
export const previousRunOf = (dir: string, runtimeId: string, agentId: string): PreviousRun | null => {
  try {
    return JSON.parse(readFileSync(previousRunFile(dir, runtimeId, agentId), 'utf8')) as PreviousRun | null;
  } catch {
    return null;
  }
};

/** From now on this runtime starts all agents of its configuration again. */
export const forgetPreviousRuns = (dir: string, runtimeId: string): void =>
  rmSync(folder(dir, runtimeId), { recursive: true, force: true });
