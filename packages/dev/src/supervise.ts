import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { endProcess, forgetPid, livingPid, sendSignal, writePid } from './servers/pid-file.ts';

/** A process that is started again whenever it ends; its log is appended to `<dir>/logs/<name>.log`. */
export type ProcessSpec = {
  readonly name: string;
  readonly dir: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

export type ProcessEvent =
  | { readonly kind: 'started'; readonly pid: number }
  /** `how`: the exit code or the signal's name */
  | { readonly kind: 'ended'; readonly how: string; readonly restartInMs: number }
  /** exit code 2: it will not run before somebody does what it says; it is not started again */
  | { readonly kind: 'refused'; readonly lastWords: string };

export type Supervised = {
  readonly name: string;
  /** null between two lives, and once it is stopped or refused */
  readonly pid: () => number | null;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** how often it was started again */
  readonly restarts: () => number;
  readonly isRefused: () => boolean;
  readonly stop: () => Promise<void>;
};

const REFUSED = 2;
const FIRST_MS = 500;
const LONGEST_MS = 5_000;
/** A life of this length shows that the last restart was a cure. */
const HEALTHY_MS = 30_000;

/** How long to wait before the next start: 0.5 s, doubled to 5 s while the lives are short. `lastMs`: the wait before this life. */
export const restartDelay = (lastMs: number | null, livedMs: number): number =>
  lastMs === null || livedMs >= HEALTHY_MS ? FIRST_MS : Math.min(LONGEST_MS, lastMs * 2);

const launch = ({ name, dir, command, args, cwd, env }: ProcessSpec): ChildProcess => {
  const file = path.join(dir, 'logs', `${name}.log`);
  mkdirSync(path.dirname(file), { recursive: true });
  const log = openSync(file, 'a');
  // Detached: Ctrl-C goes to the terminal's whole group, and these are to be stopped in order.
  const child = spawn(command, args, { cwd, env: { ...env }, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  if (child.pid !== undefined) writePid(dir, name, child.pid);
  return child;
};

const lastWords = ({ dir, name }: ProcessSpec): string =>
  readFileSync(path.join(dir, 'logs', `${name}.log`), 'utf8')
    .trim()
    .split('\n')
    .slice(-12)
    .join('\n');

/** Starts a process and keeps it running until it is stopped or refuses. */
export const supervise = (spec: ProcessSpec, onEvent: (event: ProcessEvent) => void): Supervised => {
  let stopping = false;
  let refused = false;
  let starts = 0;
  let delay: number | null = null;
  let timer: NodeJS.Timeout | undefined;

  const ended = (how: string, since: number): void => {
    forgetPid(spec.dir, spec.name);
    if (stopping) return;
    if (how === String(REFUSED)) {
      refused = true;
      onEvent({ kind: 'refused', lastWords: lastWords(spec) });
      return;
    }
    delay = restartDelay(delay, performance.now() - since);
    timer = setTimeout(start, delay);
    onEvent({ kind: 'ended', how, restartInMs: delay });
  };
  const start = (): void => {
    const since = performance.now();
    const child = launch(spec);
    starts += 1;
    child.once('error', (error) => ended(error.message, since));
    child.once('exit', (code, signal) => ended(String(code ?? signal), since));
    if (child.pid !== undefined) onEvent({ kind: 'started', pid: child.pid });
  };
  const pid = (): number | null => livingPid(spec.dir, spec.name);
  const kill = (signal: NodeJS.Signals): void => {
    const living = pid();
    if (living !== null) sendSignal(living, signal);
  };

  start();
  return {
    name: spec.name,
    pid,
    kill,
    freeze: () => kill('SIGSTOP'),
    thaw: () => kill('SIGCONT'),
    restarts: () => starts - 1,
    isRefused: () => refused,
    stop: () => {
      stopping = true;
      clearTimeout(timer);
      return endProcess(spec.dir, spec.name, 'SIGTERM');
    },
  };
};
