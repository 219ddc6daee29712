import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type PayloadOf, Topic, type TopicName } from '@vigil/events';
import { isAlive } from '../support/alive.ts';
import { type Received, receive } from '../support/received.ts';
import { type TestSystem, until } from '../support/system.ts';
import { dress, type Role, startRuntime } from './act.ts';
import type { Orchestrator } from './orchestrator.ts';

export type { Role };

/** All parts of a story. An agent's name is the key of all its events; `T-<name>` is its task. */
export type Stage = {
  readonly vigil: TestSystem;
  readonly received: Received;
  readonly orchestrator: Orchestrator;
  /** where its agents work */
  readonly folder: string;
  /** waits for an event of this type; with `times`, waits for that many and returns the last */
  readonly comes: <T extends TopicName, K extends string>(
    topic: T,
    key: string,
    type: K,
    times?: number,
  ) => Promise<PayloadOf<T, K>>;
  readonly all: <T extends TopicName, K extends string>(topic: T, key: string, type: K) => readonly PayloadOf<T, K>[];
  /** the types of all events of a key on a topic, in order */
  readonly types: (topic: TopicName, key: string) => readonly string[];
  /** the agent's own records */
  readonly diary: (name: string) => readonly string[];
  readonly pid: (name: string) => number;
  readonly isAlive: (name: string) => boolean;
  readonly silence: (name: string) => void;
  readonly rouse: (name: string) => void;
  /** updates its task's item in the host's tracker */
  readonly touch: (name: string) => void;
  /** ends the wait of the agent */
  readonly go: (name: string) => void;
  /** runs the command line, and expects success once the read model has caught up */
  readonly runs: (...args: readonly string[]) => Promise<void>;
  /** runs the command line repeatedly until its output contains this */
  readonly shows: (text: string | RegExp, ...args: readonly string[]) => Promise<string>;
  /** sends a command as a program does; returns status and answer */
  readonly posts: (command: object) => Promise<{ readonly status: number; readonly body: object }>;
  /** an act: starts a runtime with these roles, and returns the function that ends it */
  readonly enter: (roles: readonly Role[]) => () => Promise<void>;
  readonly stop: () => Promise<void>;
};

const topics = [
  Topic.agentObservation,
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

/** A story of two minutes takes twice as long on a slow machine. */
const COMES_MS = 280_000;

/** The events of a key. */
const reading = (received: Received): Pick<Stage, 'all' | 'comes' | 'types'> => {
  const of = (topic: TopicName, key: string) => received.of(topic).filter((event) => event.key === key);
  const all: Stage['all'] = <T extends TopicName, K extends string>(topic: T, key: string, type: K) =>
    of(topic, key).flatMap((event) => (event.type === type ? [event.payload as PayloadOf<T, K>] : []));
  const comes: Stage['comes'] = <T extends TopicName, K extends string>(
    topic: T,
    key: string,
    type: K,
    times = 1,
  ): Promise<PayloadOf<T, K>> => {
    const what = `${type} of ${key}${times > 1 ? `, ${times} times` : ''}`;
    return until(what, async () => all<T, K>(topic, key, type)[times - 1] as never, COMES_MS);
  };
  return { all, comes, types: (topic, key) => of(topic, key).map(({ type }) => type) };
};

/** The agents' own records, and the files that control them. */
const driving = (folder: string): Pick<Stage, 'diary' | 'pid' | 'isAlive' | 'silence' | 'rouse' | 'go'> => {
  const file = (name: string, kind: string) => path.join(folder, `${name}.${kind}`);
  const diary = (name: string): readonly string[] =>
    existsSync(file(name, 'diary')) ? readFileSync(file(name, 'diary'), 'utf8').split('\n').slice(0, -1) : [];
  const pid = (name: string): number =>
    Number(
      diary(name)
        .find((line) => line.startsWith('began '))
        ?.slice(6),
    );
  return {
    diary,
    pid,
    isAlive: (name) => isAlive(pid(name)),
    silence: (name) => writeFileSync(file(name, 'silent'), ''),
    rouse: (name) => rmSync(file(name, 'silent'), { force: true }),
    go: (name) => writeFileSync(file(name, 'go'), ''),
  };
};

/** A story waits for what becomes of a command by itself. */
const by = ['--by', 'tester', '--why', 'the story decides it', '--no-wait'];

/** Commands of people and programs to the system. */
const commanding = (vigil: TestSystem): Pick<Stage, 'runs' | 'shows' | 'posts'> => ({
  runs: async (...args) => {
    await until(`vigil ${args.join(' ')}`, async () => (await vigil.vigil(...args, ...by)).code === 0);
  },
  shows: (text, ...args) =>
    until(`vigil ${args.join(' ')} shows ${text}`, async () => {
      const { stdout } = await vigil.vigil(...args);
      return (typeof text === 'string' ? stdout.includes(text) : text.test(stdout)) && stdout;
    }),
  posts: async (command) => {
    const { VIGIL_DASHBOARD_URL, VIGIL_DASHBOARD_TOKEN } = vigil.system.env;
    const headers = { authorization: `Bearer ${VIGIL_DASHBOARD_TOKEN}`, 'content-type': 'application/json' };
    const answer = await fetch(`${VIGIL_DASHBOARD_URL}/v1/commands`, {
      method: 'POST',
      headers,
      body: JSON.stringify(command),
    });
    return { status: answer.status, body: (await answer.json()) as object };
  },
});

/** The folder of the agents of a system. */
export const folderIn = (dir: string): string => path.join(dir, 'stage');

/** One system and its orchestrator. Acts start their runtimes later. */
export const openStage = async (vigil: TestSystem, orchestrator: Orchestrator): Promise<Stage> => {
  const folder = folderIn(vigil.dir);
  dress(folder);
  const items: object[] = [{ id: 'T-closed', status: 'closed' }];
  const track = () => writeFileSync(path.join(folder, 'tracker.json'), JSON.stringify(items));
  track();
  const received = await receive(vigil, topics);
  const running = new Set<() => Promise<void>>();
  const enter: Stage['enter'] = (cast) => {
    const leave = startRuntime(vigil, folder, `stage-${running.size + 1}`, cast);
    running.add(leave);
    return leave;
  };
  return {
    vigil,
    received,
    orchestrator,
    folder,
    ...reading(received),
    ...driving(folder),
    ...commanding(vigil),
    touch: (name) => {
      items.push({ id: `T-${name}`, updated_at: Date.now() });
      track();
    },
    enter,
    stop: async () => {
      received.stop();
      orchestrator.stop();
      for (const leave of running) await leave();
    },
  };
};
