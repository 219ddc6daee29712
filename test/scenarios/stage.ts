import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type PayloadOf, Topic, type TopicName } from '@vigil/events';
import { type Heard, hear } from '../support/heard.ts';
import { type TestSystem, until } from '../support/system.ts';

/** Who plays: `part` is one of actor.ts, `policy` a preset's name. */
export type Role = { readonly name: string; readonly part: string; readonly policy: string };

/** Everything that a story asks about. An agent's name is the key of all that is said of it; `T-<name>` is its task. */
export type Stage = {
  readonly vigil: TestSystem;
  readonly heard: Heard;
  /** where its agents work */
  readonly folder: string;
  /** waits for an event of this type; with `times`, for so many of them, and gives the last */
  readonly comes: <T extends TopicName, K extends string>(
    topic: T,
    key: string,
    type: K,
    times?: number,
  ) => Promise<PayloadOf<T, K>>;
  readonly all: <T extends TopicName, K extends string>(topic: T, key: string, type: K) => readonly PayloadOf<T, K>[];
  /** the types of all events of a key on a topic, in order */
  readonly types: (topic: TopicName, key: string) => readonly string[];
  /** what the agent itself has noted */
  readonly diary: (name: string) => readonly string[];
  readonly pid: (name: string) => number;
  readonly isAlive: (name: string) => boolean;
  readonly silence: (name: string) => void;
  readonly rouse: (name: string) => void;
  /** runs the command line, and expects it to succeed once the read model has followed */
  readonly says: (...words: readonly string[]) => Promise<void>;
  readonly stop: () => Promise<void>;
};

const topics = [
  Topic.agentHealth,
  Topic.agentIntervention,
  Topic.agentOrder,
  Topic.orderReceipt,
  Topic.stepRuling,
  Topic.fleetGovernance,
  Topic.taskRecovery,
  Topic.agentHealthcheck,
  Topic.alert,
];

const root = path.resolve(import.meta.dirname, '../..');

const runtimeConfig = (folder: string, roles: readonly Role[]): string =>
  JSON.stringify({
    runtime: 'stage',
    capacity: 60,
    announce: '2s',
    grace: '500ms',
    interval: '1s',
    checkpoint_roots: [folder],
    templates: roles.map(({ name, part, policy }) => ({
      name,
      task: `T-${name}`,
      command: process.execPath,
      args: [path.join(import.meta.dirname, 'actor.ts'), part, folder],
      cwd: folder,
      policy,
      release: ['echo', `claim of T-${name}`],
      patterns: { error: ['^Error', 'API Error: 400'] },
    })),
    agents: roles.map(({ name }) => ({ name, task: `T-${name}`, template: name })),
  });

const startRuntime = ({ system }: TestSystem, folder: string): ChildProcess => {
  const config = path.join(folder, 'runtime.yaml');
  const args = [path.join(root, 'packages/cli/src/main.ts'), 'runtime', '--config', config];
  const env = { ...process.env, ...system.env, VIGIL_STATE_DIR: path.join(folder, 'state') };
  const running = spawn(process.execPath, args, { env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  running.stderr?.on('data', (data) => appendFileSync(path.join(folder, 'runtime.log'), data));
  return running;
};

/** What has been said of a key. */
const telling = (heard: Heard): Pick<Stage, 'all' | 'comes' | 'types'> => {
  const of = (topic: TopicName, key: string) => heard.of(topic).filter((event) => event.key === key);
  const all: Stage['all'] = <T extends TopicName, K extends string>(topic: T, key: string, type: K) =>
    of(topic, key).flatMap((event) => (event.type === type ? [event.payload as PayloadOf<T, K>] : []));
  const comes: Stage['comes'] = <T extends TopicName, K extends string>(
    topic: T,
    key: string,
    type: K,
    times = 1,
  ): Promise<PayloadOf<T, K>> => {
    const what = `${type} of ${key}${times > 1 ? `, ${times} times` : ''}`;
    return until(what, async () => all<T, K>(topic, key, type)[times - 1] as never, 150_000);
  };
  return { all, comes, types: (topic, key) => of(topic, key).map(({ type }) => type) };
};

/** What the agents themselves say, and are told by files. */
const acting = (folder: string): Pick<Stage, 'diary' | 'pid' | 'isAlive' | 'silence' | 'rouse'> => {
  const file = (name: string, kind: string) => path.join(folder, `${name}.${kind}`);
  const diary = (name: string): readonly string[] =>
    existsSync(file(name, 'diary')) ? readFileSync(file(name, 'diary'), 'utf8').split('\n').slice(0, -1) : [];
  const pid = (name: string): number => Number(/^began (\d+)/.exec(diary(name).at(0) ?? '')?.[1]);
  return {
    diary,
    pid,
    isAlive: (name) => isThere(pid(name)),
    silence: (name) => writeFileSync(file(name, 'silent'), ''),
    rouse: (name) => rmSync(file(name, 'silent'), { force: true }),
  };
};

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** One system, one runtime, all roles on it at once. */
export const openStage = async (vigil: TestSystem, roles: readonly Role[]): Promise<Stage> => {
  const folder = path.join(vigil.dir, 'stage');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'runtime.yaml'), runtimeConfig(folder, roles));
  const heard = await hear(vigil, topics);
  const running = startRuntime(vigil, folder);
  return {
    vigil,
    heard,
    folder,
    ...telling(heard),
    ...acting(folder),
    says: async (...words) => {
      const command = [...words, '--by', 'tester', '--why', 'the story says so'];
      await until(`vigil ${words.join(' ')}`, async () => (await vigil.vigil(...command)).code === 0, 60_000);
    },
    stop: async () => {
      heard.stop();
      running.kill('SIGTERM');
      if (running.exitCode === null) await once(running, 'exit');
    },
  };
};
