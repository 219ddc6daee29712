/** What Vigil, or a person through it, says to the agent. */
export type Word =
  /** a reminder, to be put before the model */
  | { readonly kind: 'nudge'; readonly message: string }
  /** a question whether it is still there: `reply`, once the model has read it, is the answer */
  | { readonly kind: 'probe'; readonly message: string; readonly reply: () => void }
  /** checkpoint and stop by yourself, within `deadlineMs` */
  | { readonly kind: 'handoff'; readonly message: string; readonly deadlineMs: number }
  /** it will be ended in a moment */
  | { readonly kind: 'shutdown'; readonly reason: string };

/** As it comes over the wire. */
export type Heard =
  | Exclude<Word, { readonly kind: 'probe' }>
  | { readonly kind: 'probe'; readonly message: string; readonly nonce: string }
  | { readonly kind: 'reset_breaker'; readonly name: string };

/** False: nobody listens. */
export type Hear = (heard: Heard) => boolean;

export type Listener = (word: Word) => unknown;

/** Words that wait for one reader; more than this and the oldest go. */
const MOST_WAITING = 100;

/** Who listens to words. What a listener throws is its own, and goes to `onFailure`. */
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

  say(word: Word): boolean {
    for (const listener of this.#listeners) void this.#tell(listener, word);
    return this.#listeners.size > 0;
  }

  async #tell(listener: Listener, word: Word): Promise<void> {
    try {
      await listener(word);
    } catch (error) {
      this.#onFailure(error);
    }
  }

  /** Words from now on, until `end` or until its reader leaves. */
  async *read(): AsyncGenerator<Word, void, undefined> {
    const waiting: Word[] = [];
    let ring = () => {};
    const listener: Listener = (word) => {
      waiting.push(word);
      if (waiting.length > MOST_WAITING) waiting.shift();
      ring();
    };
    const end = () => ring();
    this.#listeners.add(listener);
    this.#readers.add(end);
    try {
      for (;;) {
        for (let word = waiting.shift(); word !== undefined; word = waiting.shift()) yield word;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          ring = resolve;
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
