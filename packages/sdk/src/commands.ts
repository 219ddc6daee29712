/** What Vigil, or a person through it, sends to the agent. */
export type Command =
  /** a reminder for the model */
  | { readonly kind: 'nudge'; readonly message: string }
  /** a question whether it is still there: `reply`, once the model has read it, is the answer */
  | { readonly kind: 'probe'; readonly message: string; readonly reply: () => void }
  /** checkpoint and stop by yourself, within `deadlineMs` */
  | { readonly kind: 'handoff'; readonly message: string; readonly deadlineMs: number }
  /** save a checkpoint within `deadlineMs`: then it will be ended, and a fresh agent continues from there */
  | { readonly kind: 'checkpoint'; readonly reason: string; readonly deadlineMs: number }
  /** it will be ended in a moment */
  | { readonly kind: 'shutdown'; readonly reason: string };

/** A command in its wire form. */
export type ReceivedCommand =
  | Exclude<Command, { readonly kind: 'probe' }>
  | { readonly kind: 'probe'; readonly message: string; readonly nonce: string }
  | { readonly kind: 'reset_breaker'; readonly name: string };

/** False: there is no listener. */
export type DeliverCommand = (command: ReceivedCommand) => boolean;

export type Listener = (command: Command) => unknown;

/** Commands that wait for one reader; beyond this number the oldest are dropped. */
const MOST_WAITING = 100;

/** The listeners of one agent. What a listener throws goes to `onFailure`. */
export class Listeners {
  readonly #listeners = new Set<Listener>();
  readonly #readers = new Set<() => void>();
  readonly #onFailure: (error: unknown) => void;
  #ended = false;

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  add(listener: Listener): void {
    this.#listeners.add(listener);
  }

  emit(command: Command): boolean {
    for (const listener of this.#listeners) void this.#notify(listener, command);
    return this.#listeners.size > 0;
  }

  async #notify(listener: Listener, command: Command): Promise<void> {
    try {
      await listener(command);
    } catch (error) {
      this.#onFailure(error);
    }
  }

  /** Commands from now on, until `end` or until the reader stops. */
  async *read(): AsyncGenerator<Command, void, undefined> {
    const waiting: Command[] = [];
    let wake = () => {};
    const listener: Listener = (command) => {
      waiting.push(command);
      if (waiting.length > MOST_WAITING) waiting.shift();
      wake();
    };
    const end = () => wake();
    this.#listeners.add(listener);
    this.#readers.add(end);
    try {
      for (;;) {
        for (let command = waiting.shift(); command !== undefined; command = waiting.shift()) yield command;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      this.#listeners.delete(listener);
      this.#readers.delete(end);
    }
  }

  end(): void {
    this.#ended = true;
    for (const end of this.#readers) end();
    this.#listeners.clear();
  }
}
