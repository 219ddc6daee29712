import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { print } from './report.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** `seconds`: since the command was started */
export type Stage = { readonly name: string; readonly seconds: number };

/** `npm start` in this clone, as a user starts it. */
export type Demonstration = AsyncDisposable & {
  /** in the order in which they were reached; the last one is the first agent that is HEALTHY */
  readonly stages: readonly Stage[];
  readonly healthyAgent: string;
};

const dashboard = (): { readonly url: string; readonly token: string } => {
  const text = readFileSync(path.join(root, '.vigil/start.env'), 'utf8');
  const variable = (name: string): string => new RegExp(`^export ${name}='(.*)'$`, 'm').exec(text)?.[1] ?? '';
  return { url: variable('VIGIL_DASHBOARD_URL'), token: variable('VIGIL_DASHBOARD_TOKEN') };
};

const healthyAgent = async (): Promise<string> => {
  const { url, token } = dashboard();
  for (;;) {
    const answer = await fetch(`${url}/v1/agents?state=HEALTHY`, { headers: { authorization: `Bearer ${token}` } });
    const { agents } = (await answer.json()) as { agents: readonly { agentId: string }[] };
    if (agents[0] !== undefined) return agents[0].agentId;
    await sleep(50);
  }
};

/** `npm start` while it runs. `pid`: of npm, and the number of its process group. */
type Started = AsyncDisposable & {
  readonly pid: number;
  readonly stages: Stage[];
  readonly reached: (name: string) => void;
};

/** Starts Vigil with these options and waits until its services are ready; disposal ends it. @throws if it ends before that */
export const startVigil = async (...options: readonly string[]): Promise<Started> => {
  const since = performance.now();
  const child = spawn('npm', ['start', '--', ...options], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT');
    await ended;
  };
  const stages: Stage[] = [];
  const reached = (name: string): void => {
    stages.push({ name, seconds: (performance.now() - since) / 1000 });
    print(name);
  };
  const watched = (async () => {
    for await (const line of createInterface({ input: child.stderr })) {
      const text = /^\[start .*?\] (.*)$/.exec(line)?.[1];
      if (text?.startsWith('watching:')) return;
      if (text !== undefined) reached(text);
    }
    throw new Error('npm start ended before its services were ready');
  })();
  try {
    await watched;
    reached('the services are ready');
    child.stderr.resume();
    return { pid: child.pid as number, stages, reached, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Starts it with its demonstration fleet and waits for the first HEALTHY agent; disposal ends it. */
export const startDemonstration = async (...options: readonly string[]): Promise<Demonstration> => {
  const started = await startVigil(...options);
  try {
    const agent = await healthyAgent();
    started.reached('the first agent is HEALTHY');
    return { ...started, healthyAgent: agent };
  } catch (error) {
    await started[Symbol.asyncDispose]();
    throw error;
  }
};
