import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger, MachineClock } from '../clock.ts';
import { type ConfiguredCommand, runCommand } from '../process/command-runner.ts';
import type { HostUser } from '../process/host-user.ts';

/** Until when an instance is held, epoch milliseconds: on the disk, for the supervisor that comes after this one. */
export type PauseRecord = {
  /** null: it is not held */
  readonly read: () => number | null;
  /** Throws where the disk does not take it: then it must not be held. */
  readonly write: (until: number) => void;
  readonly clear: () => void;
};

const untilIn = (path: string): number | null => {
  try {
    const { until } = JSON.parse(readFileSync(path, 'utf8')) as { until?: unknown };
    return typeof until === 'number' ? until : null;
  } catch {
    return null;
  }
};

/** One file an instance; there is one while it is held. */
export const pauseRecordOf = (dir: string, instanceId: string): PauseRecord => {
  const folder = join(dir, 'pauses');
  const path = join(folder, `${instanceId}.json`);
  return {
    read: () => untilIn(path),
    write: (until) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(`${path}.new`, JSON.stringify({ until }), { flush: true });
      renameSync(`${path}.new`, path);
    },
    clear: () => rmSync(path, { force: true }),
  };
};

export type PauseControlDeps = {
  /** by commands of the runtime's configuration; without them SIGSTOP and SIGCONT to the agent's group */
  readonly pause: ConfiguredCommand | null;
  readonly resume: ConfiguredCommand | null;
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly env: Readonly<Record<string, string>>;
  /** whom its commands run as; null: the user of this process */
  readonly user: HostUser | null;
  readonly onChange: () => void;
  readonly record: PauseRecord;
  readonly clock: MachineClock;
  readonly logger: Logger;
};

/** How long a configured command may take, milliseconds. */
const COMMAND_MS = 30_000;

/** An order to continue may be so late before it is held to be lost, milliseconds. */
export const RESUME_LATE_MS = 5_000;

/** Holds an agent, and sets it going again: one after the other, in the order in which it was asked. */
export class PauseControl {
  readonly #parts: PauseControlDeps;
  /** when it continues at the latest, on the monotonic clock; null: it is not paused */
  #until: number | null;
  #resumedByItself = false;
  #last: Promise<unknown> = Promise.resolve();

  /** One that an earlier supervisor has left held is held on, as long as it was to be. */
  constructor(parts: PauseControlDeps) {
    this.#parts = parts;
    const { record, clock } = parts;
    const until = record.read();
    this.#until = until === null ? null : clock.monotonic() + Math.max(0, until - clock.now());
  }

  get isPaused(): boolean {
    return this.#until !== null;
  }

  /** Its last pause has ended without an order. */
  get resumedByItself(): boolean {
    return this.#resumedByItself;
  }

  /**
   * False: the configured command has failed, and the agent is unchanged. `forMs`: after this time it resumes without
   * an order.
   */
  pause(forMs: number): Promise<boolean> {
    return this.#next(() => this.#pause(forMs + RESUME_LATE_MS));
  }

  resume(): Promise<boolean> {
    return this.#next(() => this.#resume());
  }

  /** An agent does not stay paused forever because the sender of its resume is away. */
  check(): void {
    const { clock, logger } = this.#parts;
    if (this.#until === null || clock.monotonic() < this.#until) return;
    const triedUntil = clock.monotonic() + RESUME_LATE_MS;
    this.#until = triedUntil;
    void this.#next(async () => this.#until !== triedUntil || this.#resumeByItself()).catch((error: unknown) =>
      logger('a paused agent does not continue', { error: String(error) }),
    );
  }

  async #resumeByItself(): Promise<boolean> {
    this.#resumedByItself = await this.#resume();
    this.#parts.logger(
      this.#resumedByItself
        ? 'a paused agent continues by itself: its pause is over, and no order to resume has come'
        : 'a paused agent does not continue: the configured command failed; it is tried again',
    );
    return this.#resumedByItself;
  }

  /** It has ended. */
  forget(): void {
    this.#parts.record.clear();
  }

  #next(work: () => Promise<boolean>): Promise<boolean> {
    const next = this.#last.then(work, work);
    this.#last = next;
    return next;
  }

  async #pause(atMostMs: number): Promise<boolean> {
    const { clock, record } = this.#parts;
    record.write(clock.now() + atMostMs);
    if (!(await this.#turn(this.#parts.pause, 'SIGSTOP'))) {
      record.clear();
      return false;
    }
    this.#resumedByItself = false;
    this.#until = clock.monotonic() + atMostMs;
    this.#parts.onChange();
    return true;
  }

  async #resume(): Promise<boolean> {
    if (!(await this.#turn(this.#parts.resume, 'SIGCONT'))) return false;
    this.#parts.record.clear();
    this.#until = null;
    this.#parts.onChange();
    return true;
  }

  async #turn(command: ConfiguredCommand | null, signal: NodeJS.Signals): Promise<boolean> {
    const { env, user, logger } = this.#parts;
    if (command !== null) return (await runCommand(command, { env, user, withinMs: COMMAND_MS }, logger)) !== null;
    this.#parts.signal(signal);
    return true;
  }
}
