import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type Daemon, endOf, stopDaemon } from './daemon.ts';
import { lastLines, logFile } from './pid-file.ts';

export type RunningDaemon = { readonly stop: () => Promise<void> };

/** Runs a server. `start` resolves when it serves, also on the data of an earlier run. Rejects if the first start fails. */
export type RunDaemon = (daemon: Daemon, start: () => Promise<ChildProcess>) => Promise<RunningDaemon>;

/** It is not started again: tests end servers on purpose. */
export const runOnce: RunDaemon = async (daemon, start) => {
  await start();
  return { stop: () => stopDaemon(daemon) };
};

const FIRST_MS = 500;
const LONGEST_MS = 60_000;
/** A run of this length shows that the last start has helped. */
const HEALTHY_MS = 30_000;
/** So many short runs in a row are reported with the end of the log. */
const DEATHS_TO_EXPLAIN = 3;
const LINES = 8;

/** How many short runs have ended in a row, with the one that has just ended. */
export const deathsAfter = (before: number, livedMs: number): number => (livedMs >= HEALTHY_MS ? 1 : before + 1);

/** The wait before the next start: 0.5 s, doubled with each short run up to a minute. */
export const pauseBefore = (deaths: number): number => Math.min(LONGEST_MS, FIRST_MS * 2 ** (deaths - 1));

/** A server that is started again whenever it ends, until it is stopped. */
class DaemonSupervision {
  readonly #daemon: Daemon;
  readonly #start: () => Promise<ChildProcess>;
  readonly #report: (line: string) => void;
  #isStopping = false;
  #deaths = 0;
  #timer: NodeJS.Timeout | undefined;
  #restarting: Promise<void> = Promise.resolve();

  constructor(daemon: Daemon, start: () => Promise<ChildProcess>, report: (line: string) => void) {
    this.#daemon = daemon;
    this.#start = start;
    this.#report = report;
  }

  async startFirst(): Promise<void> {
    this.#watch(await this.#start());
  }

  #watch(child: ChildProcess): void {
    const since = performance.now();
    const ended = (): void => this.#ended(`${this.#daemon.name} ended with ${endOf(child)}`, performance.now() - since);
    if (endOf(child) === null) child.once('exit', ended);
    else ended();
  }

  #ended(what: string, livedMs: number): void {
    if (this.#isStopping) return;
    this.#deaths = deathsAfter(this.#deaths, livedMs);
    const pauseMs = pauseBefore(this.#deaths);
    this.#report(`${what}; started again in ${pauseMs / 1000} s (attempt ${this.#deaths})${this.#explanation()}`);
    this.#timer = setTimeout(() => {
      this.#restarting = this.#restart();
    }, pauseMs);
  }

  #explanation(): string {
    if (this.#deaths < DEATHS_TO_EXPLAIN) return '';
    const log = logFile(this.#daemon);
    const end = lastLines(readFileSync(log, 'utf8'), LINES);
    return `. It has ended ${this.#deaths} times in a row; ${log} ends with:\n${end}`;
  }

  async #restart(): Promise<void> {
    try {
      const child = await this.#start();
      if (this.#isStopping) return;
      this.#report(`${this.#daemon.name} serves again`);
      this.#watch(child);
    } catch (error) {
      await stopDaemon(this.#daemon);
      const [what = ''] = String(error instanceof Error ? error.message : error).split(/[;\n]/);
      this.#ended(what, 0);
    }
  }

  readonly stop = async (): Promise<void> => {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    await stopDaemon(this.#daemon);
    // A start that was under way fails now, or its server has just begun to serve.
    await this.#restarting;
    await stopDaemon(this.#daemon);
  };
}

/** Starts it again in place whenever it ends, and reports each end with its exit code and the number of the attempt. */
export const superviseDaemon =
  (report: (line: string) => void): RunDaemon =>
  async (daemon, start) => {
    const supervision = new DaemonSupervision(daemon, start, report);
    await supervision.startFirst();
    return supervision;
  };
