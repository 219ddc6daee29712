import { join } from 'node:path';
import {
  AlreadySupervised,
  checkFree,
  checkName,
  type DepsSettings,
  type ForegroundStreams,
  findHostUser,
  openDeps,
  openStateDir,
  type Reach,
  readRuntimeConfig,
  run,
  runDetached,
  StateUnwritable,
  type Supervised,
  startRuntime,
  usersOf,
  WrongSettings,
} from '@vigil/supervisor';
import { type Command, Option } from 'commander';
import { CannotProceed } from '../../errors.ts';
import {
  collectLabel,
  collectVariable,
  depsSettings,
  fileLogger,
  hostId,
  type SupervisingOptions,
  stateDir,
  stderrLogger,
  withSupervisingOptions,
} from '../../supervising.ts';
import { reportStarted, startDetached } from './detach.ts';
import { logReach, reachBeforeStart } from './run-reach.ts';
import {
  bytes,
  environmentFrom,
  heartbeatInterval,
  length,
  noteAssignment,
  noteEnd,
  noteSilence,
  noteWithheld,
  noticeOnStderr,
  noticesOnStderr,
  type RunOptions,
  runtimeIdOf,
  specOf,
  wantedOf,
} from './run-spec.ts';
import { runUnwatched } from './run-unwatched.ts';
import { withWork, workSourceOf } from './run-work.ts';

/** How long an agent has to leave by itself when its supervisor in the background is ended, milliseconds. */
const GRACE_MS = 5000;
const passedOn: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

const seat = (tty: boolean, onOutput: ForegroundStreams['onOutput']): ForegroundStreams => ({
  stdin: process.stdin,
  stdout: process.stdout,
  tty,
  onOutput,
  onSignal: (listener) => {
    for (const signal of passedOn) process.on(signal, listener);
  },
});

/** While the agent has the terminal, lines wait for its end; the log has them at once, and the terminal's title the last one. */
const hasTerminal = ({ tty }: RunOptions): boolean => tty && process.stderr.isTTY === true;

/** No lock keeps its name, and no report of its end would outlive this process: the command runs without Vigil, or not at all. */
const withoutState = async (command: readonly string[], options: RunOptions, why: StateUnwritable) => {
  if (options.require) throw new CannotProceed(`not started, since it would not be watched: ${why.message}`);
  process.stderr.write(`vigil: not watched: ${why.message}\n`);
  process.exitCode = await runUnwatched(command, environmentFrom(options), passedOn);
};

const inForeground = async (command: readonly string[], options: RunOptions): Promise<void> => {
  // Without a listener, a terminal that is gone would end the supervisor.
  process.stderr.on('error', () => {});
  const dir = stateDir(options);
  const workSource = workSourceOf(options);
  const spec = specOf(options, workSource, command);
  checkFree(dir, options.name);
  try {
    openStateDir(dir);
  } catch (error) {
    if (!(error instanceof StateUnwritable)) throw error;
    return withoutState(command, options, error);
  }
  const notice = noticeOnStderr();
  const notices = noticesOnStderr(options.gateway, notice);
  noteSilence(command);
  noteWithheld(spec.env, dir);
  const logger = fileLogger(join(dir, 'logs', `${options.name}.log`));
  const onReach = (agentId: string, reach: Reach) => {
    logReach(logger, agentId, reach);
    notices.note(reach);
  };
  const deps = withWork(openDeps(spec.runtimeId, depsSettings(options, dir, logger, onReach)));
  deps.follow(workSource);
  try {
    const reach = await reachBeforeStart(deps.gateway, wantedOf(options));
    notices.note(reach);
    if (reach.kind === 'watched') await noteAssignment(deps.gateway, options);
    if (hasTerminal(options)) notices.hold();
    const onOutput = hasTerminal(options) ? (data: Buffer) => notice.written(data) : () => {};
    const { status, endedFromElsewhere } = await run(spec, deps, seat(options.tty, onOutput));
    process.exitCode = status;
    notices.release();
    if (endedFromElsewhere !== null) noteEnd(options, endedFromElsewhere);
  } finally {
    notices.release();
    deps.close();
    // A signal may end what is left, such as a request that no gateway answers.
    for (const signal of passedOn) process.removeAllListeners(signal);
  }
};

const stopSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
  });

const backgroundSettings = (options: RunOptions): DepsSettings =>
  depsSettings(options, stateDir(options), stderrLogger, (agentId, reach) => logReach(stderrLogger, agentId, reach));

/** The supervisor that `vigil run --detach` leaves behind; its standard error is the agent's log. */
const inBackground = async (command: readonly string[], options: RunOptions, readyFd: number): Promise<void> => {
  const stopped = stopSignal().then((signal) => `its supervisor received ${signal}`);
  const deps = withWork(openDeps(runtimeIdOf(options.name), backgroundSettings(options)));
  const workSource = workSourceOf(options);
  const spec = command.length === 0 ? null : specOf(options, workSource, command);
  const { columns = 120, rows = 40 } = options;
  const onStarted = (agent: Supervised) => {
    // An agent that is supervised again keeps its tracker, unless the command line names another.
    deps.follow(workSource ?? agent.spec.workSource);
    reportStarted(readyFd, agent);
  };
  const where = { runtimeId: runtimeIdOf(options.name), agentId: options.name, size: { columns, rows } };
  try {
    await runDetached({ ...where, spec, stopped, graceMs: GRACE_MS, onStarted }, deps);
  } finally {
    deps.close();
  }
};

const runCommand = async (words: readonly string[], options: RunOptions, command: Command): Promise<void> => {
  checkName(options.name);
  // A mistake is shown here, also where the supervisor starts in the background.
  workSourceOf(options);
  if (options.readyFd !== undefined) return inBackground(words, options, options.readyFd);
  if (options.detach) return startDetached(words, options);
  if (words.length === 0) command.error("error: missing required argument 'command'");
  return inForeground(words, options);
};

type RuntimeOptions = SupervisingOptions & { readonly config: string };

/** How long the last reports may take to reach the gateway; the next runtime sends the rest. */
const FAREWELL_MS = 3000;

const runRuntime = async (options: RuntimeOptions): Promise<void> => {
  const stopped = stopSignal();
  const config = readRuntimeConfig(options.config);
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  const users = usersOf(config, { isRoot, find: findHostUser });
  const dir = stateDir({ dir: options.dir ?? config.dir });
  const onReach = (agentId: string, reach: Reach) => logReach(stderrLogger, agentId, reach);
  const deps = openDeps(config.runtime, depsSettings(options, dir, stderrLogger, onReach));
  const wanted = { runtimeId: config.runtime, healthPolicy: config.policy ?? null, require: options.require };
  const reach = await reachBeforeStart(deps.gateway, wanted).catch((error: unknown) => {
    deps.close();
    throw error;
  });
  if (reach.kind === 'unwatched') stderrLogger('not watched', { runtime: config.runtime, why: reach.why });
  const runtime = await startRuntime({ config, host: hostId(), env: process.env, users }, deps);
  stderrLogger('the runtime watches its agents', {
    runtime: config.runtime,
    dir,
    pid: process.pid,
    cgroups: deps.cgroups.kind,
  });
  await runtime.stop(`its runtime received ${await stopped}`);
  await deps.outbox.settled(FAREWELL_MS);
  deps.close();
};

/** Every mistake of the user's is one sentence with its remedy. */
const orRefusal = async (work: Promise<void>, command: Command): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof AlreadySupervised || error instanceof WrongSettings)
      command.error(`vigil ${command.name()}: ${error.message}`);
    throw error;
  }
};

const EXAMPLES = `
Examples:
  vigil run --name worker-1 --task OMN-1234 -- claude -p "…"            here, as if Vigil were not there
  vigil run --detach --name worker-1 --task OMN-1234 -- ./agent.sh     in the background, also after this shell
  vigil run --name worker-1 --task bd-12 --work-source "br list --json" -- ./agent.sh
                                                                       with the state of its work item
  vigil attach worker-1                                                look at its terminal
  vigil stop worker-1                                                  end it
  vigil run --detach --name worker-1                                   supervise it again, where its supervisor has died`;

export const register = (program: Command): void => {
  const command = program
    .command('run')
    .description('run a command as a watched agent, in the foreground, as if Vigil were not there')
    .argument(
      '[command...]',
      'the command, after --; with --detach and no command, supervise the running agent of that name again',
    )
    .requiredOption('--name <name>', "the agent's id")
    .option('--task <id>', 'the task it works on')
    .option('--health-policy <name>', 'the policy that it requests')
    .addOption(
      new Option('--nudge <way>', 'how texts reach it').choices(['auto', 'socket', 'hook', 'terminal', 'file']),
    )
    .option('--nudge-file <path>', 'with --nudge file: the file to which each text is added as a line')
    .option(
      '--interval <duration>',
      'how often a heartbeat is sent, at most once a second (default: the interval that the gateway sets)',
      heartbeatInterval,
    )
    .option('--label <name=value>', 'a label; may be repeated', collectLabel)
    .option(
      '--env <name[=value]>',
      'a variable that the agent gets beside those that every program needs; may be repeated',
      collectVariable,
    )
    .option(
      '--runtime-config <file>',
      "the host's runtime configuration: patterns, checkpoint roots, work source, commands at the end",
    )
    .option(
      '--work-source <command>',
      'every 30s, a shell command that prints the work items of the tracker as JSON, such as "br list --json"; needs --task',
    )
    .option('--max-memory <size>', 'end it above this memory of its processes, such as 2GiB', bytes)
    .option('--max-output <size>', 'end it above this output', bytes)
    .option('--timeout <duration>', 'end it after this time', length)
    .option('--no-tty', 'do not take the terminal over')
    .option('--detach', 'run in the background; see attach and stop')
    .option('--json', 'with --detach: print the started agent as JSON')
    .addOption(new Option('--ready-fd <fd>').argParser(Number).hideHelp())
    .addOption(new Option('--columns <n>').argParser(Number).hideHelp())
    .addOption(new Option('--rows <n>').argParser(Number).hideHelp())
    .addHelpText('after', EXAMPLES);
  withSupervisingOptions(command).action((words: string[], options: RunOptions) =>
    orRefusal(runCommand(words, options, command), command),
  );
  const runtime = program
    .command('runtime')
    .description("this host's daemon: starts its configured agents, spawns by order, supervises them all")
    .requiredOption('--config <file>', 'the runtime configuration, YAML');
  withSupervisingOptions(runtime).action((options: RuntimeOptions) => orRefusal(runRuntime(options), runtime));
};
