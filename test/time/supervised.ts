import { spawn } from 'node:child_process';
import path from 'node:path';
import { bundleOf } from '@vigil/dev';
import type { EventOf, Topic } from '@vigil/events';
import type { TestSystem } from '../support/system.ts';

/** An agent under `vigil run` that reports a counter. */
export const runCounting = (t: TestSystem, name: string): { readonly stop: () => Promise<void> } => {
  const agent = [process.execPath, path.join(import.meta.dirname, 'counting.ts')];
  const args = ['run', '--name', name, '--task', `T-${name}`, '--interval', '1s', '--', ...agent];
  const env = { ...process.env, ...t.system.env, VIGIL_STATE_DIR: path.join(t.dir, 'supervisor') };
  const child = spawn(process.execPath, [bundleOf('vigil'), ...args], {
    env,
    cwd: t.dir,
    stdio: 'ignore',
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    stop: () => {
      child.kill('SIGTERM');
      return gone;
    },
  };
};

/**
 * A heartbeat of the agent. `receivedAt`: by the broker; `sentAt`: by its supervisor; `reportedAt`: the agent's newest
 * report; `calls`: numbers
 */
export type Counted = {
  readonly receivedAt: number;
  readonly sequence: number;
  readonly sentAt: number;
  readonly reportedAt: number;
  readonly calls: readonly number[];
};

/** Its observations, in order and without repeated heartbeats. */
export const counted = (observations: readonly EventOf<typeof Topic.agentObservation>[], name: string): Counted[] => {
  const seen = new Map<number, Counted>();
  for (const { type, key, payload, occurredAt } of observations) {
    if (type !== 'AGENT_HEARTBEAT' || key !== name) continue;
    const sequence = payload.sequence ?? 0;
    if (seen.has(sequence)) continue;
    const calls = payload.tool_calls.map(({ call_id }) => Number(call_id.slice(1)));
    const reportedAt = Number(payload.progress_indicator) || 0;
    seen.set(sequence, { receivedAt: occurredAt, sequence, sentAt: payload.timestamp, reportedAt, calls });
  }
  return [...seen.values()];
};
