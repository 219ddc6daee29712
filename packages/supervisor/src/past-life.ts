import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ExitReason } from '@vigil/events';
import type { AgentSpec } from './agent.ts';
import { renew } from './claim.ts';

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

const suffix = '.ended';
const folder = (dir: string): string => join(dir, 'agents');
export const pastLifeFile = (dir: string, agentId: string): string => join(folder(dir), `${agentId}${suffix}`);

/** On the disk when it returns. One that an order has spawned is in no configuration, and is not kept. */
export const keepPastLife = (
  dir: string,
  spec: AgentSpec,
  { reason, details }: Pick<PastLife, 'reason' | 'details'>,
) => {
  const { agentId, taskId, runtimeId, instanceId, orderId } = spec;
  if (orderId !== null) return;
  renew(pastLifeFile(dir, agentId), { agentId, taskId, runtimeId, instanceId, reason, details } satisfies PastLife);
};

/** The last life of this name of this runtime; null: none is known to have ended. */
export const pastLifeOf = (dir: string, runtimeId: string, agentId: string): PastLife | null => {
  try {
    const found = JSON.parse(readFileSync(pastLifeFile(dir, agentId), 'utf8')) as PastLife | null;
    return found?.runtimeId === runtimeId ? found : null;
  } catch {
    return null;
  }
};

/** From now on this runtime begins anew with its configuration. */
export const forgetPastLives = (dir: string, runtimeId: string): void => {
  if (!existsSync(folder(dir))) return;
  for (const name of readdirSync(folder(dir)).filter((one) => one.endsWith(suffix)))
    if (pastLifeOf(dir, runtimeId, name.slice(0, -suffix.length)) !== null) rmSync(join(folder(dir), name));
};
