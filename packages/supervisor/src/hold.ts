import { type Chore, tryChore } from './chore.ts';
import type { Log } from './clock.ts';

export type HoldParts = {
  /** by commands of the runtime's configuration; without them SIGSTOP and SIGCONT to the agent's group */
  readonly pause: Chore | null;
  readonly resume: Chore | null;
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly env: Readonly<Record<string, string>>;
  readonly onChange: () => void;
  readonly log: Log;
};

/** How long a configured command may take, milliseconds. */
const commandMs = 30_000;

/** Holds an agent, and sets it going again: one after the other, in the order in which it was asked. */
export class Hold {
  readonly #parts: HoldParts;
  #isPaused = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: HoldParts) {
    this.#parts = parts;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** False: the configured command has failed, and the agent is as it was. */
  stop(): Promise<boolean> {
    return this.#next(() => this.#turn(true, this.#parts.pause, 'SIGSTOP'));
  }

  go(): Promise<boolean> {
    return this.#next(() => this.#turn(false, this.#parts.resume, 'SIGCONT'));
  }

  #next(work: () => Promise<boolean>): Promise<boolean> {
    const next = this.#last.then(work);
    this.#last = next;
    return next;
  }

  async #turn(paused: boolean, command: Chore | null, signal: NodeJS.Signals): Promise<boolean> {
    const { env, log } = this.#parts;
    if (command === null) this.#parts.signal(signal);
    else if ((await tryChore(command, { env, withinMs: commandMs }, log)) === null) return false;
    this.#isPaused = paused;
    this.#parts.onChange();
    return true;
  }
}
