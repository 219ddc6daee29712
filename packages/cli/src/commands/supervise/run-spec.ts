import { appendFileSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Adapter, adapterOf } from '@vigil/adapters';
import type { CommandLine, Place } from '@vigil/adapters/adapter';
import { parseDuration } from '@vigil/policy';
import {
  type AgentSpec,
  type Gateway,
  hasTitle,
  inheritedEnvironment,
  type LimitSettings,
  monitoringOf,
  type NudgeBy,
  oftenNeededOf,
  parseSize,
  plainMonitoring,
  readRuntimeConfig,
  TerminalNotice,
  templateFor,
  type WorkSourceSettings,
  WrongSettings,
} from '@vigil/supervisor';
import { InvalidArgumentError } from 'commander';
import { Refusal } from '../../errors.ts';
import { here } from '../../hook/install.ts';
import { installed } from '../../hook/settings.ts';
import { readSettings } from '../../hook/settings-file.ts';
import { plain } from '../../render/plain.ts';
import { hostId, type SupervisingOptions } from '../../supervising.ts';
import { assignmentWarning, ReachNotices, type Wanted } from './run-reach.ts';

export type RunOptions = SupervisingOptions & {
  readonly name: string;
  readonly task?: string;
  readonly healthPolicy?: string;
  readonly interval?: number;
  readonly nudge?: NudgeBy;
  readonly nudgeFile?: string;
  readonly label: Record<string, string>;
  readonly env?: Readonly<Record<string, string>>;
  readonly runtimeConfig?: string;
  readonly workSource?: string;
  readonly maxMemory?: number;
  readonly maxOutput?: number;
  readonly timeout?: number;
  readonly tty: boolean;
  readonly detach?: boolean;
  readonly json?: boolean;
  /** what the supervisor in the background is started with */
  readonly readyFd?: number;
  readonly columns?: number;
  readonly rows?: number;
};

/** `vigil run` is a runtime of its own, of one agent. */
export const runtimeIdOf = (name: string): string => `${hostId()}.${name}`.slice(0, 128);

/** Reads an amount of at least `least`. */
const amount =
  (read: (text: string) => number | null, least: number, remedy: string) =>
  (text: string): number => {
    const found = read(text);
    if (found === null || found < least) throw new InvalidArgumentError(remedy);
    return found;
  };

export const length = amount(parseDuration, 1, 'write a duration such as 1s, 500ms or 2m');
export const heartbeatInterval = amount(parseDuration, 1000, 'write a duration of at least 1s, such as 1s or 30s');
export const bytes = amount(parseSize, 1, 'write a size such as 512MiB or 2GiB');

/** What the host's own configuration sets for such a task: how to watch it, not what to execute. */
const watching = ({ runtimeConfig, task, label, name }: RunOptions) => {
  if (runtimeConfig === undefined) return { ...plainMonitoring(), checkpointRoots: [process.cwd()] };
  const { templates, checkpoint_roots: checkpointRoots } = readRuntimeConfig(runtimeConfig);
  const template = templateFor(templates, task ?? '', label);
  return { ...(template ? monitoringOf(template, name, task ?? null) : plainMonitoring()), checkpointRoots };
};

/** The command line overrides a template. */
const limitsOf = (options: RunOptions, configured: LimitSettings): LimitSettings => ({
  memory: options.maxMemory ?? configured.memory,
  output: options.maxOutput ?? configured.output,
  time: options.timeout ?? configured.time,
  reportOnly: configured.reportOnly,
});

export const wantedOf = ({ name, healthPolicy, require }: RunOptions): Wanted => ({
  runtimeId: runtimeIdOf(name),
  healthPolicy: healthPolicy ?? null,
  require,
});

const timeOfDay = (): string => new Date().toTimeString().slice(0, 8);

const onStderr = (line: string): void => void process.stderr.write(`${line}\n`);

/** A notice on the terminal of standard error. */
export const noticeOnStderr = (): TerminalNotice =>
  new TerminalNotice((text) => void process.stderr.write(text), hasTitle(process.env.TERM));

export const noticesOnStderr = (url: string, notice: TerminalNotice): ReachNotices =>
  new ReachNotices({ url, clock: timeOfDay, write: onStderr, notice });

/** One line where the agent is judged by another policy than it requests. */
export const noteAssignment = async (gateway: Gateway, options: RunOptions): Promise<void> => {
  const { name: agentId, healthPolicy: requestedPolicy = null } = options;
  const warning = await assignmentWarning(gateway, { agentId, labels: labelsOf(options), requestedPolicy });
  if (warning !== null) onStderr(`vigil: ${warning}`);
};

/** One line where the agent was ended from elsewhere: by a plan, a person or a limit. */
export const noteEnd = ({ name }: Pick<RunOptions, 'name'>, endedFromElsewhere: string): void =>
  onStderr(`vigil: ${plain(endedFromElsewhere)}; vigil explain ${name} shows what follows`);

/** One line where the command shows nothing while it works. */
export const noteSilence = ([command = '', ...args]: readonly string[]): void => {
  const notice = silenceNotice({ command, args }, here());
  if (notice !== null) onStderr(`vigil: ${notice}`);
};

/**
 * How texts reach the agent: from the command line, else from the template. A file has to be named exactly when texts
 * go to a file.
 * @throws WrongSettings
 */
export const nudging = (
  { nudge, nudgeFile }: Pick<RunOptions, 'nudge' | 'nudgeFile'>,
  configured: Pick<AgentSpec, 'nudge' | 'nudgeFile'>,
): Pick<AgentSpec, 'nudge' | 'nudgeFile'> => {
  if (nudgeFile !== undefined && nudge !== 'file')
    throw new WrongSettings(`--nudge-file ${nudgeFile} needs --nudge file`);
  if (nudge === undefined) return configured;
  if (nudge !== 'file') return { nudge, nudgeFile: null };
  if (nudgeFile !== undefined) return { nudge, nudgeFile: { path: resolve(nudgeFile), format: 'jsonl' } };
  if (configured.nudgeFile === null)
    throw new WrongSettings('--nudge file needs --nudge-file PATH, the file to which each text is added');
  return { nudge, nudgeFile: configured.nudgeFile };
};

/** Of the names, those that have not been noted in this state folder before. The folder may not be writable. */
export const unnoted = (names: readonly string[], dir: string): readonly string[] => {
  const file = join(dir, 'noted-variables');
  try {
    const noted = new Set(readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split('\n'));
    const fresh = names.filter((name) => !noted.has(name));
    appendFileSync(file, fresh.map((name) => `${name}\n`).join(''));
    return fresh;
  } catch {
    return names;
  }
};

/** Names the variables that the agent probably needs and does not get, each once. */
export const noteWithheld = (given: Readonly<Record<string, string>>, dir: string): void => {
  const names = unnoted(oftenNeededOf(process.env, given), dir);
  if (names.length > 0)
    onStderr(`vigil: the agent does not get ${names.join(', ')}: pass a variable on with --env NAME`);
};

/** What the agent gets of this environment, and what `--env` adds. */
export const environmentFrom = ({ env }: Pick<RunOptions, 'env'>): Readonly<Record<string, string>> => ({
  ...inheritedEnvironment(process.env, []),
  ...env,
});

const labelsOf = ({ label }: RunOptions): Readonly<Record<string, string>> => ({ host: hostId(), ...label });

export const specOf = (
  options: RunOptions,
  workSource: WorkSourceSettings | null,
  [command = '', ...args]: readonly string[],
  watched = watching(options),
): AgentSpec => ({
  ...watched,
  workSource,
  ...nudging(options, watched),
  limits: limitsOf(options, watched.limits),
  parentAgentId: null,
  agentId: options.name,
  instanceId: crypto.randomUUID(),
  taskId: options.task ?? null,
  runtimeId: runtimeIdOf(options.name),
  attempt: 0,
  maxAttempts: null,
  policy: options.healthPolicy ?? null,
  labels: labelsOf(options),
  command,
  args,
  cwd: process.cwd(),
  env: environmentFrom(options),
  intervalMs: options.interval ?? null,
  checkpoint: null,
  handover: null,
  user: null,
  orderId: null,
});

/** A file that cannot be read has no hook for the client either. */
const hasHook = (file: string): boolean => {
  try {
    return installed(readSettings(file), file).events.length > 0;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
};

const isHookInstalled = ({ install }: Adapter, place: Place): boolean => {
  const { project, user } = install.files(place);
  return hasHook(project) || hasHook(user);
};

/** The line for people about an agent that shows nothing while it works; null: it shows something. */
export const silenceNotice = (line: CommandLine, place: Place): string | null => {
  const adapter = adapterOf(line);
  const invocation = adapter?.invocation(line);
  if (!adapter || !invocation?.headless || invocation.printsProgress || isHookInstalled(adapter, place)) return null;
  const { name, install, streamOptions } = adapter;
  return `${install.title} prints nothing while it works, and no hook reports it, so Vigil cannot see whether it hangs; run "vigil hook install --client ${name}", or add ${streamOptions}`;
};
