import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleOf } from '@vigil/dev';
import { type Draft, type Heartbeat, type PayloadOf, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import type { Received } from '../support/received.ts';
import { runtimeEnv } from '../support/runtimes.ts';
import { type TestSystem, until } from '../support/system.ts';

const RUNTIME = 'puppets';

type Terminate = PayloadOf<typeof Topic.agentOrder, 'TERMINATE_AGENT'>;
export type Instance = { readonly agentId: string; readonly instanceId: string; readonly sequence: number };

/** `vigil runtime` with agents that a test controls. */
export type Puppets = {
  readonly start: () => void;
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly stop: () => Promise<void>;
  /** ends the runtime at once; its agents continue */
  readonly kill: () => Promise<void>;
  /** the process of the agent with this name */
  readonly pid: (name: string) => number;
  readonly silence: (name: string) => void;
  readonly rouse: (name: string) => void;
  /** the number of parts of its work that it has begun to report */
  readonly parts: (name: string) => number;
  /** the number of requests to end that it received */
  readonly ends: (name: string) => number;
  /** in the order of their receipt */
  readonly heartbeats: (name: string) => readonly Heartbeat[];
  /** the lines that its terminal has shown, by its last heartbeat */
  readonly lines: (name: string) => number;
  /** the newest heartbeat of an instance other than these */
  readonly instance: (name: string, ...not: readonly string[]) => Promise<Instance>;
};

/** `templates` and `agents` come after those of the puppets. */
type More = {
  readonly capacity?: number;
  readonly work_source?: object;
  readonly templates?: readonly object[];
  readonly agents?: readonly object[];
};

/**
 * Agents whose name begins with `-` are silent from the beginning; those with `+` start only by an order. `more`:
 * further configuration of the runtime.
 */
export const openPuppets = (
  on: TestSystem,
  received: Received,
  policy: string,
  all: readonly string[],
  { templates = [], agents: others = [], ...more }: More = {},
): Puppets => {
  const folder = path.join(on.dir, 'puppets');
  mkdirSync(folder, { recursive: true });
  const names = all.map((name) => name.replace(/^[-+]/, ''));
  const file = (name: string, kind: string) => path.join(folder, `${name}.${kind}`);
  for (const name of all.filter((each) => each.startsWith('-'))) writeFileSync(file(name.slice(1), 'silent'), '');
  const template = (name: string) => ({
    name,
    task: `T-${name}`,
    command: process.execPath,
    args: [path.join(import.meta.dirname, 'puppet.ts'), name, folder],
    cwd: folder,
  });
  const agents = names
    .filter((name) => !all.includes(`+${name}`))
    .map((name) => ({ name, task: `T-${name}`, template: name }));
  const config = {
    runtime: RUNTIME,
    announce: '2s',
    grace: '1s',
    interval: '1s',
    policy,
    templates: [...names.map(template), ...templates],
    agents: [...agents, ...others],
    ...more,
  };
  writeFileSync(path.join(folder, 'runtime.yaml'), JSON.stringify(config));
  const args = [bundleOf('vigil'), 'runtime', '--config', path.join(folder, 'runtime.yaml')];
  const env = { ...runtimeEnv(on, RUNTIME, { ...config, capacity: 100 }), VIGIL_STATE_DIR: path.join(folder, 'state') };
  let running: ChildProcess | undefined;
  const heartbeats = (name: string): readonly Heartbeat[] =>
    received
      .of(Topic.heartbeat)
      .map(({ payload }) => payload)
      .filter(({ agent_id }) => agent_id === name);
  return {
    start: () => {
      running = spawn(process.execPath, args, { env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
      running.stderr?.on('data', (data) => appendFileSync(path.join(folder, 'runtime.log'), data));
    },
    signal: (signal) => void running?.kill(signal),
    stop: async () => {
      if (running === undefined || (running.exitCode ?? running.signalCode) !== null) return;
      running.kill('SIGCONT');
      running.kill('SIGTERM');
      await once(running, 'exit');
    },
    kill: async () => {
      running?.kill('SIGKILL');
      if (running) await once(running, 'exit');
    },
    pid: (name) => {
      const lock = readFileSync(path.join(folder, 'state', 'agents', `${name}.lock`), 'utf8');
      return (JSON.parse(lock) as { child: { pid: number } }).child.pid;
    },
    silence: (name) => writeFileSync(file(name, 'silent'), ''),
    rouse: (name) => rmSync(file(name, 'silent'), { force: true }),
    parts: (name) => readFileSync(file(name, 'parts'), 'utf8').length,
    ends: (name) =>
      existsSync(file(name, 'ends')) ? readFileSync(file(name, 'ends'), 'utf8').split('\n').length - 1 : 0,
    heartbeats,
    lines: (name) => heartbeats(name).at(-1)?.output?.lines ?? 0,
    instance: (name, ...not) =>
      until(`a heartbeat of ${name}`, async () => {
        const last = heartbeats(name).findLast(({ instance_id }) => instance_id !== null && !not.includes(instance_id));
        if (last === undefined) return undefined;
        return { agentId: name, instanceId: last.instance_id as string, sequence: last.sequence ?? 0 };
      }),
  };
};

/** An order to end this instance, as a case writes it for a finding that no progress withdraws. */
export const terminate = (
  { agentId, instanceId }: Instance,
  rest: Partial<Terminate> = {},
): Draft<typeof Topic.agentOrder> => {
  const about = { agentId, instanceId, runtimeId: RUNTIME, taskId: `T-${agentId}`, caseId: null };
  const how = {
    number: 1,
    ttlMs: 60_000,
    foldedSequence: null,
    axes: ['fact'],
    awaits: null,
    graceMs: 100,
    cleanupMs: 1000,
    release: [],
    restart: false,
  };
  const order = example(Topic.agentOrder, 'TERMINATE_AGENT', { orderId: randomUUID(), ...about, ...how, ...rest });
  return { topic: order.topic, type: order.type, key: agentId, payload: order.payload };
};
