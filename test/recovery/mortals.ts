import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import type { Supervised } from '@vigil/dev';
import { startRuntime } from '../support/runtimes.ts';
import type { TestSystem } from '../support/system.ts';

/** One instance of a real agent process, by its own report at its start. `at`: epoch milliseconds */
export type Instance = {
  readonly task: string;
  readonly agentId: string;
  readonly instanceId: string;
  readonly attempt: number;
  readonly pid: number;
  readonly at: number;
  /** the checkpoint file from which it had to start; empty for none */
  readonly checkpoint: string;
  readonly socket: string;
};

/** Reports its identity, then works and prints until it is killed. */
const AGENT = `printf '%s\\t' "$VIGIL_TASK_ID" "$VIGIL_AGENT_ID" "$VIGIL_INSTANCE_ID" "$VIGIL_ATTEMPT" $$ "$(date +%s%3N)" "$VIGIL_CHECKPOINT" "$VIGIL_SOCKET" | sed 's/$/\\n/' >> instances
part=0; while :; do part=$((part + 1)); echo "part $part is done"; sleep 1; done`;

export type Mortals = {
  readonly instances: () => readonly Instance[];
  readonly runtimes: readonly Supervised[];
  readonly roots: { readonly root: string; readonly elsewhere: string };
  readonly stop: () => Promise<void>;
};

/** Several `vigil runtime`, each with a share of the tasks and one agent for each task. */
export const openMortals = (on: TestSystem, names: readonly string[], tasks: readonly string[]): Mortals => {
  const folder = path.join(on.dir, 'mortals');
  const roots = { root: path.join(folder, 'checkpoints'), elsewhere: path.join(folder, 'elsewhere') };
  for (const each of Object.values(roots)) mkdirSync(each, { recursive: true });
  const begin = (runtime: string, place: number): Supervised => {
    const own = tasks.filter((_, at) => at % names.length === place);
    const config = {
      ...{ capacity: tasks.length, announce: '2s', grace: '0s', interval: '1s', policy: 'demo' },
      checkpoint_roots: [roots.root],
      templates: [{ name: 'mortal', command: '/bin/sh', args: ['-c', AGENT], cwd: folder }],
      agents: own.map((task) => ({ name: `on-${task}`, task, template: 'mortal' })),
    };
    return startRuntime(on, { folder, state: folder }, runtime, config);
  };
  const runtimes = names.map(begin);
  const stop = async (): Promise<void> => {
    await Promise.all(runtimes.map((runtime) => runtime.stop()));
  };
  return { instances: () => instancesIn(path.join(folder, 'instances')), runtimes, roots, stop };
};

const instancesIn = (file: string): Instance[] => {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [task = '', agentId = '', instanceId = '', attempt, pid, at, checkpoint = '', socket = ''] = line.split('\t');
    return {
      task,
      agentId,
      instanceId,
      attempt: Number(attempt),
      pid: Number(pid),
      at: Number(at),
      checkpoint,
      socket,
    };
  });
};

/** Sends a report over the agent's socket, as a helper of the agent does. */
export const send = (instance: Instance, fields: object): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = createConnection(instance.socket, () => socket.end(`${JSON.stringify(fields)}\n`));
    socket.on('error', reject).on('close', () => resolve());
    socket.resume();
  });
