import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { endProcess, forgetPid, livingPid, sendSignal, writePid } from './pid-file.ts';
import { endWithUs } from './survivors.ts';

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
  /** exit code 2: it needs an operator first; it is not started again */
  | { readonly kind: 'refused'; readonly lastError: string };

export type Supervised = {
  readonly name: string;
  /** null between two runs, and once it is stopped or refused */
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

/**
 * How long to wait before the next start: 0.5 s, doubled to 5 s while the runs are short. `lastMs`: the wait before
 * this run.
 */
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

const lastError = ({ dir, name }: ProcessSpec): string =>
  readFileSync(path.join(dir, 'logs', `${name}.log`), 'utf8')
    .trim()
    .split('\n')
    .slice(-12)
    .join('\n');

class Supervision implements Supervised {
  readonly name: string;
  readonly #spec: ProcessSpec;
  readonly #onEvent: (event: ProcessEvent) => void;
  #stopping = false;
  #refused = false;
  #starts = 0;
  #delay: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(spec: ProcessSpec, onEvent: (event: ProcessEvent) => void) {
    this.name = spec.name;
    this.#spec = spec;
    this.#onEvent = onEvent;
  }

  readonly start = (): void => {
    const since = performance.now();
    const child = launch(this.#spec);
    this.#starts += 1;
    child.once('error', (error) => this.#ended(error.message, since));
    child.once('exit', (code, signal) => this.#ended(String(code ?? signal), since));
    if (child.pid !== undefined) this.#onEvent({ kind: 'started', pid: child.pid });
  };

  #ended(how: string, since: number): void {
    forgetPid(this.#spec.dir, this.name);
    if (this.#stopping) return;
    if (how === String(REFUSED)) {
      this.#refused = true;
      this.#onEvent({ kind: 'refused', lastError: lastError(this.#spec) });
      return;
    }
    this.#delay = restartDelay(this.#delay, performance.now() - since);
    this.#timer = setTimeout(this.start, this.#delay);
    this.#onEvent({ kind: 'ended', how, restartInMs: this.#delay });
  }

  readonly pid = (): number | null => livingPid(this.#spec.dir, this.name);

  readonly kill = (signal: NodeJS.Signals): void => {
    const pid = this.pid();
    if (pid !== null) sendSignal(pid, signal);
  };

  readonly freeze = (): void => this.kill('SIGSTOP');
  readonly thaw = (): void => this.kill('SIGCONT');
  readonly restarts = (): number => this.#starts - 1;
  readonly isRefused = (): boolean => this.#refused;

  readonly stop = (): Promise<void> => {
    this.#stopping = true;
    clearTimeout(this.#timer);
    return endProcess(this.#spec.dir, this.name, 'SIGTERM');
  };
}

/** Starts a process and keeps it running until it is stopped or refuses, or this process is gone. */
export const supervise = (spec: ProcessSpec, onEvent: (event: ProcessEvent) => void): Supervised => {
  endWithUs(spec.dir, spec.name);
  const supervision = new Supervision(spec, onEvent);
  supervision.start();
  return supervision;
};
