import { readFileSync, statSync } from 'node:fs';
import { endProcess, forgetPid, launch, livingPid, logFile, type ProcessSpec, sendSignal } from './pid-file.ts';
import { endWithUs } from './survivors.ts';

export type ProcessEvent =
  | { readonly kind: 'started'; readonly pid: number }
  /** `how`: the exit code, or the name of the signal */
  | { readonly kind: 'ended'; readonly how: string; readonly restartInMs: number }
  /**
   * exit code 2: it needs an operator first. `lastError`: its words, without lines of its log. `again`: it is started
   * again, because it has served before; reported once
   */
  | { readonly kind: 'refused'; readonly lastError: string; readonly again: boolean };

const REFUSED = 2;
const FIRST_MS = 500;
const LONGEST_MS = 5_000;
/** A run of this length shows that the last restart has helped. */
const HEALTHY_MS = 30_000;

/**
 * The wait before the next start: 0.5 s, doubled up to 5 s while the runs are short. `lastMs`: the wait before this
 * run.
 */
export const restartDelay = (lastMs: number | null, livedMs: number): number =>
  lastMs === null || livedMs >= HEALTHY_MS ? FIRST_MS : Math.min(LONGEST_MS, lastMs * 2);

/** The words of a refusal come after the last line of JSON. */
const wordsIn = (output: string): string => {
  const lines = output.trim().split('\n');
  return lines.slice(lines.findLastIndex((line) => line.startsWith('{')) + 1).join('\n');
};

/** A process that is restarted whenever it ends. */
class Supervision {
  readonly name: string;
  readonly #spec: ProcessSpec;
  readonly #onEvent: (event: ProcessEvent) => void;
  #stopping = false;
  #refused = false;
  /** One that has served refuses a file that was changed since, and the other services may be in its process. */
  #hasServed = false;
  #starts = 0;
  /** where the output of the newest run begins in its log, bytes */
  #logBegins = 0;
  #delay: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(spec: ProcessSpec, onEvent: (event: ProcessEvent) => void) {
    this.name = spec.name;
    this.#spec = spec;
    this.#onEvent = onEvent;
  }

  readonly start = (): void => {
    const since = performance.now();
    this.#logBegins = statSync(logFile(this.#spec), { throwIfNoEntry: false })?.size ?? 0;
    const child = launch(this.#spec);
    this.#starts += 1;
    child.once('error', (error) => this.#ended(error.message, since));
    child.once('exit', (code, signal) => this.#ended(String(code ?? signal), since));
    if (child.pid !== undefined) this.#onEvent({ kind: 'started', pid: child.pid });
  };

  /** of its newest run: its log has earlier ones before */
  #output(): string {
    return readFileSync(logFile(this.#spec)).subarray(this.#logBegins).toString();
  }

  #ended(how: string, since: number): void {
    forgetPid(this.#spec.dir, this.name);
    if (this.#stopping) return;
    const livedMs = performance.now() - since;
    this.#hasServed ||= livedMs >= HEALTHY_MS;
    if (how === String(REFUSED)) {
      const again = this.#hasServed;
      if (!this.#refused) this.#onEvent({ kind: 'refused', lastError: wordsIn(this.#output()), again });
      this.#refused = true;
      if (!again) return;
    }
    this.#delay = restartDelay(this.#delay, livedMs);
    this.#timer = setTimeout(this.start, this.#delay);
    this.#onEvent({ kind: 'ended', how, restartInMs: this.#delay });
  }

  /** null between two runs, and once it is stopped or refused */
  readonly pid = (): number | null => livingPid(this.#spec.dir, this.name);

  readonly kill = (signal: NodeJS.Signals): void => {
    const pid = this.pid();
    if (pid !== null) sendSignal(pid, signal);
  };

  readonly freeze = (): void => this.kill('SIGSTOP');
  readonly thaw = (): void => this.kill('SIGCONT');
  /** how often it was started again */
  readonly restarts = (): number => this.#starts - 1;
  readonly isRefused = (): boolean => this.#refused;

  /** From now on it is not started again. */
  readonly endRestarts = (): void => {
    this.#stopping = true;
    clearTimeout(this.#timer);
  };

  readonly stop = (): Promise<void> => {
    this.endRestarts();
    return endProcess(this.#spec.dir, this.name, 'SIGTERM');
  };
}

export type Supervised = Omit<Supervision, 'start'>;

/** Starts a process and restarts it until it is stopped, it refuses, or this process is gone. */
export const supervise = (spec: ProcessSpec, onEvent: (event: ProcessEvent) => void): Supervised => {
  endWithUs(spec.dir, spec.name);
  const supervision = new Supervision(spec, onEvent);
  supervision.start();
  return supervision;
};
