import { appendFileSync, mkdirSync } from 'node:fs';
import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { adapters } from '@vigil/adapters';
import { openGateway } from '@vigil/sdk';
import {
  type Address,
  type DepsSettings,
  findCgroups,
  inheritedEnvironment,
  type Logger,
  WITHHELD,
} from '@vigil/supervisor';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { COMMAND_VARIABLES } from './config.ts';
import { Refusal } from './errors.ts';
import { jsonText } from './render/plain.ts';

/** What both supervising commands receive about the gateway and this machine. */
export type SupervisingOptions = {
  readonly gateway: string;
  readonly token: string;
  readonly tokenFile?: string;
  readonly dir?: string;
  readonly require: boolean;
};

/** Options that the environment may set too. */
export const withSupervisingOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--gateway <url>', 'where heartbeats go')
        .env('VIGIL_GATEWAY_URL')
        .default(COMMAND_VARIABLES.VIGIL_GATEWAY_URL.default),
    )
    .addOption(
      new Option(
        '--token <token>',
        "the gateway's bearer token; other users of the host can read it in the list of processes",
      )
        .env('VIGIL_GATEWAY_TOKEN')
        .default(''),
    )
    .addOption(
      new Option('--token-file <file>', 'the file of that token, which is renewed there; for its owner alone').env(
        'VIGIL_GATEWAY_TOKEN_FILE',
      ),
    )
    .option('--require', 'start nothing where the gateway does not take its heartbeats', false)
    .addOption(stateDirOption('journal, locks and unsent reports'));

const stateDirOption = (what: string): Option =>
  new Option('--dir <folder>', `${what} (default: ${COMMAND_VARIABLES.VIGIL_STATE_DIR.default})`).env(
    'VIGIL_STATE_DIR',
  );

/** For commands that look for agents of this host. */
export const withStateDir = (command: Command): Command =>
  command
    .addOption(stateDirOption('where its runtime keeps its locks'))
    .addOption(new Option('--fleet-dir <folder>').env('VIGIL_FLEET_STATE_DIR').hideHelp());

/** Host names may hold what an id may not. */
export const hostId = (): string =>
  hostname()
    .replace(/[^A-Za-z0-9._:-]/g, '-')
    .slice(0, 60);

export const collectLabel = (text: string, labels: Record<string, string>): Record<string, string> => {
  const [name, value] = [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)];
  if (!text.includes('=') || name === '') throw new InvalidArgumentError('write a label as name=value');
  return { ...labels, [name]: value };
};

/** `NAME` of this environment, or `NAME=value`. */
export const collectVariable = (text: string, variables: Record<string, string>): Record<string, string> => {
  const [name = '', ...value] = text.split('=');
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new InvalidArgumentError('write NAME or NAME=value');
  if (WITHHELD.includes(name))
    throw new InvalidArgumentError('an agent does not get the tokens of runtimes and people');
  if (text.includes('=')) return { ...variables, [name]: value.join('=') };
  return { ...variables, ...inheritedEnvironment(process.env, [name]) };
};

const line = (message: string, fields: Readonly<Record<string, unknown>>): string =>
  `${jsonText({ time: new Date().toISOString(), message, ...fields }, 0)}\n`;

/** Writes a line, and calls `failed` where that was not possible. */
export type WriteLine = (text: string, failed: () => void) => void;

/**
 * A log that never ends the process. Lines that a full disk or a closed pipe does not accept are counted, and the
 * next written line has the number of missing ones.
 * `format`: one line, with its newline.
 */
export const survivingLogger = (
  write: WriteLine,
  format: (message: string, fields: Readonly<Record<string, unknown>>) => string,
): Logger => {
  let missing = 0;
  return (message, fields = {}) => {
    const before = missing;
    missing = 0;
    const text = format(message, before === 0 ? fields : { ...fields, missingBefore: before });
    write(text, () => {
      missing += before + 1;
    });
  };
};

/** A log beside the terminal, for a command that must not be disturbed. */
export const fileLogger = (path: string): Logger => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const write: WriteLine = (text, failed) => {
    try {
      appendFileSync(path, text);
    } catch {
      failed();
    }
  };
  return survivingLogger(write, line);
};

const toStderr: WriteLine = (text, failed) => {
  // Without a listener an error of the stream ends the process.
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {});
  process.stderr.write(text, (error) => error && failed());
};

export const stderrLogger: Logger = survivingLogger(toStderr, line);

export const stateDir = (options: { readonly dir?: string | undefined }): string =>
  options.dir ?? join(homedir(), '.local', 'state', 'vigil');

export type HereOptions = { readonly dir?: string | undefined; readonly fleetDir?: string | undefined };

/**
 * The state folder of an agent of this host. `fleetDir`: that of the demonstration fleet under `npm start`, for its
 * agents. `runs`: whether the agent runs, according to a folder.
 */
export const stateDirOf = (
  options: HereOptions,
  agent: string,
  runs: (dir: string, agent: string) => boolean,
): string => {
  const { dir, fleetDir } = options;
  if (dir !== undefined || fleetDir === undefined) return stateDir(options);
  return !runs(stateDir(options), agent) && runs(fleetDir, agent) ? fleetDir : stateDir(options);
};

export const clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** @throws Refusal if the file of the token cannot be used */
export const addressOf = ({ gateway, token, tokenFile }: SupervisingOptions, logger: Logger): Address => {
  const way = tokenFile === undefined ? { url: gateway, token } : { url: gateway, tokenFile };
  const address = openGateway(way, { now: clock.now, onProblem: (problem) => logger(problem) });
  try {
    void address.token;
  } catch (error) {
    throw new Refusal((error as Error).message);
  }
  return address;
};

export const depsSettings = (
  options: SupervisingOptions,
  dir: string,
  logger: Logger,
  onReach: DepsSettings['onReach'],
): DepsSettings => ({
  dir,
  socketDir: join(tmpdir(), `vigil-${userInfo().uid}`),
  gateway: addressOf(options, logger),
  pid: process.pid,
  cgroups: findCgroups(clock.now()),
  clock,
  logger,
  onReach,
  newId: () => crypto.randomUUID(),
  clients: adapters,
});
