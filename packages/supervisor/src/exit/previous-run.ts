import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ExitReason } from '@vigil/events';
import type { AgentSpec } from '../agent/agent-spec.ts';
import type { HostDeps } from '../deps.ts';
import { renew } from '../state/lock-file.ts';

/** How the last life of a configured agent ended: what follows is recovery's, and no restart of its runtime starts it anew. */
export type PastLife = {
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
export const pastLifeFile = (dir: string, runtimeId: string, agentId: string): string =>
  join(folder(dir, runtimeId), `${agentId}.json`);

/** On the disk when it returns, or the log says why not. One that an order has spawned is in no configuration, and is not kept. */
export const keepPastLife = (
  { dir, log }: Pick<HostDeps, 'dir' | 'log'>,
  spec: AgentSpec,
  { reason, details }: Pick<PastLife, 'reason' | 'details'>,
): void => {
  const { agentId, taskId, runtimeId, instanceId, orderId } = spec;
  if (orderId !== null) return;
  const path = pastLifeFile(dir, runtimeId, agentId);
  try {
    renew(path, { agentId, taskId, runtimeId, instanceId, reason, details } satisfies PastLife);
  } catch (error) {
    log('it is not kept that an agent has ended: its runtime, were it killed, would start it anew', {
      path,
      error: String(error),
    });
  }
};

/** The last life of this name of this runtime; null: none is known to have ended. */
export const pastLifeOf = (dir: string, runtimeId: string, agentId: string): PastLife | null => {
  try {
    return JSON.parse(readFileSync(pastLifeFile(dir, runtimeId, agentId), 'utf8')) as PastLife | null;
  } catch {
    return null;
  }
};

/** From now on this runtime begins anew with its configuration. */
export const forgetPastLives = (dir: string, runtimeId: string): void =>
  rmSync(folder(dir, runtimeId), { recursive: true, force: true });
