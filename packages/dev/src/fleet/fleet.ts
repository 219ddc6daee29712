import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleOf } from '../paths.ts';
import type { ProcessSpec } from '../processes/pid-file.ts';
import { type ProcessEvent, type Supervised, supervise } from '../processes/supervise.ts';
import { behaviours } from './agent/behaviours.ts';

export type FleetOptions = {
  /** logs, pid files, checkpoints and the supervisors' state */
  readonly dir: string;
  readonly gatewayUrl: string;
  /** the operator's: it issues the runtime's own token, and `vigil run` uses it as a person would */
  readonly token: string;
  /** the environment of its processes */
  readonly env: NodeJS.ProcessEnv;
  /** the health policy of the agents */
  readonly policy: string;
  /** appended to the tasks' names, because limits of attempts are stored by task and outlive a run */
  readonly run?: string;
  /** behaviours to show; all where absent */
  readonly only?: readonly string[];
  readonly onEvent?: (process: string, event: ProcessEvent) => void;
};

export type FleetAgent = { readonly name: string; readonly task: string };
export type Fleet = {
  /** the first agents; recoveries start replacements */
  readonly agents: readonly FleetAgent[];
  /** `vigil runtime`, and `vigil run` for the agent that is run by hand */
  readonly processes: readonly Supervised[];
  /** ends the agents and their supervisors, and waits until they are gone */
  readonly stop: () => Promise<void>;
};

export const FLEET_RUNTIME_ID = 'demo-runtime';
/** `vigil run` runs this agent, `vigil runtime` the others. */
const BY_HAND = 'steady';

const agentProgram = bundleOf('demo-agent');
const cli = bundleOf('vigil');
const taskOf = (name: string, run = ''): string => `DEMO-${name}${run}`;
const agentArgs = (name: string, dir: string): string[] => [agentProgram, name, path.join(dir, 'checkpoints')];

const CAPACITY = 12;
const LABELS = { team: 'demo' };

/** The state folder of its supervisors. */
export const supervisorsDir = (dir: string): string => path.join(dir, 'supervisors');

/** A token that permits only what the file of the runtime states. */
const runtimeToken = async ({ gatewayUrl, token, policy }: FleetOptions): Promise<string> => {
  const answer = await fetch(new URL('/v1/tokens', gatewayUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      kind: 'runtime',
      name: FLEET_RUNTIME_ID,
      tasks: ['DEMO-*'],
      policies: [policy],
      capacity: CAPACITY,
      labels: { team: ['demo'], host: ['*'] },
      by: 'npm start',
    }),
  });
  if (!answer.ok) throw new Error(`the gateway issues no token: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { readonly token: string }).token;
};

/** YAML is a superset of JSON, and this file is read by a program. */
const runtimeConfig = ({ dir, policy, run }: FleetOptions, names: readonly string[]): string =>
  JSON.stringify(
    {
      runtime: FLEET_RUNTIME_ID,
      capacity: CAPACITY,
      labels: LABELS,
      announce: '5s',
      interval: '1s',
      policy,
      grace: '1s',
      checkpoint_roots: [path.join(dir, 'checkpoints')],
      templates: names.map((name) => ({
        name,
        task: taskOf(name, run),
        command: process.execPath,
        args: agentArgs(name, dir),
        cwd: dir,
      })),
      agents: names.map((name) => ({ name, task: taskOf(name, run), template: name, labels: LABELS })),
    },
    null,
    2,
  );

const writeConfig = (options: FleetOptions, names: readonly string[]): string => {
  const file = path.join(options.dir, 'runtime.yaml');
  mkdirSync(path.join(options.dir, 'checkpoints'), { recursive: true });
  writeFileSync(file, runtimeConfig(options, names));
  return file;
};

const specs = async (options: FleetOptions, names: readonly string[]): Promise<ProcessSpec[]> => {
  const { dir, gatewayUrl, token, policy } = options;
  const env = {
    ...options.env,
    VIGIL_GATEWAY_URL: gatewayUrl,
    VIGIL_GATEWAY_TOKEN: token,
    VIGIL_STATE_DIR: supervisorsDir(dir),
  };
  const common = { dir, command: process.execPath, cwd: dir, env };
  const here = names.filter((name) => name !== BY_HAND);
  const runtime = async (): Promise<ProcessSpec> => ({
    ...common,
    name: 'runtime',
    args: [cli, 'runtime', '--config', writeConfig(options, here)],
    env: { ...env, VIGIL_GATEWAY_TOKEN: await runtimeToken(options) },
  });
  const flags = ['--health-policy', policy, '--interval', '1s', '--label', 'team=demo'];
  const run = [
    'run',
    '--name',
    BY_HAND,
    '--task',
    taskOf(BY_HAND, options.run),
    ...flags,
    '--',
    process.execPath,
    ...agentArgs(BY_HAND, dir),
  ];
  const single = { ...common, name: `run-${BY_HAND}`, args: [cli, ...run] };
  return [...(here.length > 0 ? [await runtime()] : []), ...(names.includes(BY_HAND) ? [single] : [])];
};

/** Starts the demonstration fleet: real processes, each with its behaviour. @throws if the gateway issues no token */
export const startFleet = async (options: FleetOptions): Promise<Fleet> => {
  const names = Object.keys(behaviours).filter((name) => options.only?.includes(name) ?? true);
  const specified = await specs(options, names);
  const processes = specified.map((spec) => supervise(spec, (event) => options.onEvent?.(spec.name, event)));
  return {
    agents: names.map((name) => ({ name, task: taskOf(name, options.run) })),
    processes,
    stop: async () => void (await Promise.all(processes.map((one) => one.stop()))),
  };
};
