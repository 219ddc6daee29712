import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bundleOf } from '@vigil/dev';
import { catalogue, topicNames } from '@vigil/events';
import { type Received, receive } from '../support/received.ts';
import { openSystem, ROOM, type TestSystem } from '../support/system.ts';
import { clients } from './client/clients.ts';
import { binDir, installClients } from './client/pinned.ts';
import { type ClientCommand, makePlace, type Place, type StartQuestion } from './client/session.ts';
import type { ClientKind } from './model/answer.ts';
import { type ModelRequest, type ScriptedModel, startModel } from './model/model.ts';
import type { ScenarioName } from './model/scenarios.ts';
import { endTree, processesOf, SESSION_MARK } from './processes.ts';
import { startTerminal, type Terminal } from './terminal.ts';

const vigilMain = bundleOf('vigil');

export type SessionSpec = {
  readonly client: ClientKind;
  readonly scenario: ScenarioName;
  readonly thinkMs: number;
  readonly policy: 'vigil' | 'demo';
  readonly isHeadless: boolean;
  readonly skipsPermissions: boolean;
  readonly hasHook: boolean;
  readonly prompt: string | null;
  readonly openQuestions: readonly StartQuestion[];
  readonly moreArgs: readonly string[];
  readonly moreEnv: Readonly<Record<string, string>>;
  /** contents of files in the project, by their path there */
  readonly files: Readonly<Record<string, string>>;
};

/** A session that works alone, with Vigil's hook, until it has done its task. */
export const headless = (client: ClientKind, scenario: ScenarioName, more: Partial<SessionSpec> = {}): SessionSpec => ({
  client,
  scenario,
  thinkMs: 0,
  policy: 'demo',
  isHeadless: true,
  skipsPermissions: true,
  hasHook: true,
  prompt: 'do the task',
  openQuestions: [],
  moreArgs: [],
  moreEnv: {},
  files: { 'a.txt': 'one\ntwo\n' },
  ...more,
});

/** A session with a person's screen, which requests permission before it runs a command. */
export const interactive = (
  client: ClientKind,
  scenario: ScenarioName,
  more: Partial<SessionSpec> = {},
): SessionSpec => ({
  ...headless(client, scenario),
  isHeadless: false,
  skipsPermissions: false,
  ...more,
});

export type Session = {
  readonly name: string;
  readonly spec: SessionSpec;
  readonly place: Place;
  /** the agent's screen; null for a headless session */
  readonly terminal: Terminal | null;
  /** what `vigil run` and the client have printed; empty for an interactive session */
  readonly output: () => string;
  /** the exit code of `vigil run` */
  readonly ended: Promise<number>;
  readonly requests: () => readonly ModelRequest[];
  /** the processes of this session that still run, of any starter */
  readonly processes: () => readonly number[];
};

export type Stage = {
  readonly system: TestSystem;
  readonly model: ScriptedModel;
  readonly received: Received;
  readonly start: (spec: SessionSpec) => Promise<Session>;
  /** the folders, the hook and the command of a session that something else starts, such as a runtime */
  readonly prepare: (name: string, spec: SessionSpec) => Promise<Prepared>;
  readonly stop: () => Promise<void>;
};

export type Prepared = { readonly place: Place; readonly command: ClientCommand; readonly stateDir: string };

const installHook = async (client: ClientKind, place: Place, env: Readonly<Record<string, string>>): Promise<void> => {
  const args = [vigilMain, 'hook', 'install', '--user', '--client', client];
  await promisify(execFile)(process.execPath, args, { cwd: place.project, env: { ...env } });
};

/** Variables of `vigil run` itself, which no client gets. */
const OF_SUPERVISOR: readonly string[] = ['VIGIL_STATE_DIR', 'VIGIL_GATEWAY_URL', 'VIGIL_GATEWAY_TOKEN'];

/** A real Vigil on separate servers, a scripted model, and the pinned clients. */
export const openStage = async (name: string, kinds: readonly ClientKind[]): Promise<Stage> => {
  installClients(kinds);
  const dir = mkdtempSync(path.join(os.tmpdir(), 'vc-'));
  const model = await startModel({ onRequest: () => undefined });
  const system = await openSystem({ name: `clients-${name}`, policy: 'demo', env: ROOM });
  const received = await receive(
    system,
    topicNames.filter((topic) => catalogue[topic].kind !== 'snapshot'),
  );
  const sessions: Session[] = [];
  let count = 0;

  const prepare = async (sessionName: string, spec: SessionSpec): Promise<Prepared> => {
    const base = path.join(dir, sessionName);
    const place: Place = { home: path.join(base, 'home'), project: path.join(base, 'project'), hookLog: null };
    makePlace(place);
    for (const [file, content] of Object.entries(spec.files)) {
      mkdirSync(path.dirname(path.join(place.project, file)), { recursive: true });
      writeFileSync(path.join(place.project, file), content);
    }
    const modelUrl = model.open(spec.client, { ...spec, name: sessionName, workdir: place.project });
    const command = clients[spec.client].prepare({ ...spec, place, modelUrl });
    const stateDir = path.join(dir, 's', String(count));
    const env = {
      ...command.env,
      ...spec.moreEnv,
      VIGIL_STATE_DIR: stateDir,
      VIGIL_GATEWAY_URL: system.system.env.VIGIL_GATEWAY_URL,
      VIGIL_GATEWAY_TOKEN: system.system.env.VIGIL_GATEWAY_TOKEN,
      [SESSION_MARK]: sessionName,
    };
    if (spec.hasHook) await installHook(spec.client, place, env);
    return { place, stateDir, command: { ...command, env } };
  };

  const start = async (spec: SessionSpec): Promise<Session> => {
    count += 1;
    const sessionName = `${spec.client}-${spec.scenario}-${count}`;
    const { place, command } = await prepare(sessionName, spec);
    const policy = ['--health-policy', spec.policy];
    const passed = Object.keys(command.env).filter((variable) => !OF_SUPERVISOR.includes(variable));
    const variables = passed.flatMap((variable) => ['--env', variable]);
    const run = ['run', '--name', sessionName, '--task', `T-${sessionName}`, ...policy, ...variables];
    const client = [path.join(binDir, command.command), ...command.args];
    const args = [vigilMain, ...run, '--', ...client];
    const started = spec.isHeadless ? startHeadless(args, command) : startInteractive(args, command);
    const session: Session = {
      ...started,
      name: sessionName,
      spec,
      place,
      requests: () => model.requests(sessionName),
      processes: () => processesOf(sessionName),
    };
    sessions.push(session);
    return session;
  };

  const stop = async (): Promise<void> => {
    for (const session of sessions) endTree(session.name);
    await Promise.race([Promise.allSettled(sessions.map(({ ended }) => ended)), sleep(10_000)]);
    received.stop();
    await system.stop();
    await model.close();
    if (process.env.VIGIL_KEEP === undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  return { system, model, received, start, prepare, stop };
};

type Started = Pick<Session, 'terminal' | 'output' | 'ended'>;

const startHeadless = (args: readonly string[], { cwd, env }: ClientCommand): Started => {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1)));
  return { terminal: null, output: () => output, ended };
};

const startInteractive = (args: readonly string[], command: ClientCommand): Started => {
  const terminal = startTerminal({ ...command, command: process.execPath, args });
  return { terminal, output: () => '', ended: terminal.exited };
};
