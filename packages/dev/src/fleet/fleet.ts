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

/** YAML is a superset of JSON, and this file is read by a program. */
const runtimeConfig = ({ dir, policy, run }: FleetOptions, names: readonly string[]): string =>
  JSON.stringify(
    {
      runtime: FLEET_RUNTIME_ID,
      capacity: 12,
      labels: { team: 'demo' },
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
      agents: names.map((name) => ({ name, task: taskOf(name, run), template: name, labels: { team: 'demo' } })),
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

const specs = (options: FleetOptions, names: readonly string[]): ProcessSpec[] => {
  const { dir, gatewayUrl, token, policy } = options;
  const env = {
    ...options.env,
    VIGIL_GATEWAY_URL: gatewayUrl,
    VIGIL_GATEWAY_TOKEN: token,
    VIGIL_STATE_DIR: path.join(dir, 'supervisors'),
  };
  const common = { dir, command: process.execPath, cwd: dir, env };
  const here = names.filter((name) => name !== BY_HAND);
  const runtime = { ...common, name: 'runtime', args: [cli, 'runtime', '--config', writeConfig(options, here)] };
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
  return [...(here.length > 0 ? [runtime] : []), ...(names.includes(BY_HAND) ? [single] : [])];
};

/** Starts the demonstration fleet: real processes, each with its behaviour. */
export const startFleet = (options: FleetOptions): Fleet => {
  const names = Object.keys(behaviours).filter((name) => options.only?.includes(name) ?? true);
  const processes = specs(options, names).map((spec) =>
    supervise(spec, (event) => options.onEvent?.(spec.name, event)),
  );
  return {
    agents: names.map((name) => ({ name, task: taskOf(name, options.run) })),
    processes,
    stop: async () => void (await Promise.all(processes.map((one) => one.stop()))),
  };
};
