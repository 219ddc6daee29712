import { join } from 'node:path';
import { parseDuration } from '@vigil/policy';
import {
  type AgentSpec,
  AlreadySupervised,
  type LimitSettings,
  openWorld,
  parseSize,
  plainWatching,
  readRuntimeConfig,
  run,
  type Seat,
  templateFor,
  WrongSettings,
  watchingOf,
} from '@vigil/supervisor';
import { type Command, InvalidArgumentError } from 'commander';
import {
  agentEnvironment,
  collectLabel,
  hostId,
  logToFile,
  type SupervisingOptions,
  stateDir,
  withSupervisingOptions,
  worldSettings,
} from '../supervising.ts';

type RunOptions = SupervisingOptions & {
  readonly name: string;
  readonly task?: string;
  readonly healthPolicy?: string;
  readonly interval?: number;
  readonly label: Record<string, string>;
  readonly runtimeConfig?: string;
  readonly maxMemory?: number;
  readonly maxOutput?: number;
  readonly timeout?: number;
  readonly tty: boolean;
};

const length = (text: string): number => {
  const ms = parseDuration(text);
  if (ms === null || ms <= 0) throw new InvalidArgumentError('write a duration such as 1s, 500ms or 2m');
  return ms;
};

const bytes = (text: string): number => {
  const found = parseSize(text);
  if (found === null || found <= 0) throw new InvalidArgumentError('write a size such as 512MiB or 2GiB');
  return found;
};

/** What the host's own configuration says of such a task: how to watch it, not what to execute. */
const watching = ({ runtimeConfig, task, label, name }: RunOptions) => {
  if (runtimeConfig === undefined) return { ...plainWatching(), checkpointRoots: [process.cwd()] };
  const { templates, checkpoint_roots: checkpointRoots } = readRuntimeConfig(runtimeConfig);
  const template = templateFor(templates, task ?? '', label);
  return { ...(template ? watchingOf(template, name, task ?? null) : plainWatching()), checkpointRoots };
};

/** What is said on the command line counts before what a template says. */
const limitsOf = (options: RunOptions, configured: LimitSettings): LimitSettings => ({
  memory: options.maxMemory ?? configured.memory,
  output: options.maxOutput ?? configured.output,
  time: options.timeout ?? configured.time,
  reportOnly: configured.reportOnly,
});

const specOf = (
  options: RunOptions,
  [command = '', ...args]: readonly string[],
  watched = watching(options),
): AgentSpec => ({
  ...watched,
  limits: limitsOf(options, watched.limits),
  agentId: options.name,
  instanceId: crypto.randomUUID(),
  taskId: options.task ?? null,
  runtimeId: `${hostId()}.${options.name}`.slice(0, 128),
  attempt: 0,
  maxAttempts: null,
  policy: options.healthPolicy ?? null,
  labels: { host: hostId(), ...options.label },
  command,
  args,
  cwd: process.cwd(),
  env: agentEnvironment(),
  intervalMs: options.interval ?? null,
  checkpoint: null,
  handover: null,
  orderId: null,
});

const passedOn: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

const seat = (tty: boolean): Seat => ({
  stdin: process.stdin,
  stdout: process.stdout,
  tty,
  onSignal: (listener) => {
    for (const signal of passedOn) process.on(signal, listener);
    return () => {
      for (const signal of passedOn) process.off(signal, listener);
    };
  },
});

const runCommand = async (command: readonly string[], options: RunOptions): Promise<void> => {
  const dir = stateDir(options);
  const spec = specOf(options, command);
  const world = openWorld(
    spec.runtimeId,
    worldSettings(options, dir, logToFile(join(dir, 'logs', `${options.name}.log`))),
  );
  try {
    process.exitCode = await run(spec, world, seat(options.tty));
  } finally {
    world.close();
  }
};

/** Every mistake of the user's is one sentence with its remedy. */
const orRefusal = async (work: Promise<void>, command: Command): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof AlreadySupervised || error instanceof WrongSettings)
      command.error(`vigil run: ${error.message}`);
    throw error;
  }
};

export const register = (program: Command): void => {
  const command = program
    .command('run')
    .description('run a command as a watched agent, in the foreground, as if Vigil were not there')
    .argument('<command...>', 'what to run, after --')
    .requiredOption('--name <name>', "the agent's id")
    .option('--task <id>', 'the task it works on')
    .option('--health-policy <name>', 'the policy it wishes to be judged by')
    .option('--interval <duration>', 'how often it beats (default: as the gateway asks)', length)
    .option('--label <name=value>', 'a label; may be repeated', collectLabel, {})
    .option(
      '--runtime-config <file>',
      "the host's runtime configuration: patterns, checkpoint roots, commands at the end",
    )
    .option('--max-memory <size>', 'it is ended when its processes hold more, such as 2GiB', bytes)
    .option('--max-output <size>', 'it is ended when it has printed more', bytes)
    .option('--timeout <duration>', 'it is ended after so long', length)
    .option('--no-tty', 'do not take the terminal over');
  withSupervisingOptions(command).action((words: string[], options: RunOptions) =>
    orRefusal(runCommand(words, options), command),
  );
};
