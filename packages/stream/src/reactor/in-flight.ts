/** The events of a partition that are read and not done. The group's offset may move only to the first of them. */
export class Outstanding {
  readonly #pending = new Set<number>();
  /** offsets that cannot be read, because the registry does not answer for their schema */
  readonly unread = new Set<number>();
  #read: number;

  constructor(from: number) {
    this.#read = from;
  }

  /** the next offset to be read */
  get read(): number {
    return this.#read;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** the offset below which everything is done */
  get done(): number {
    const [first] = this.#pending;
    return first ?? this.#read;
  }

  begin(offset: number): void {
    this.#pending.add(offset);
    this.#read = offset + 1;
  }

  readTo(next: number): void {
    this.#read = Math.max(this.#read, next);
  }

  finish(offset: number): void {
    this.#pending.delete(offset);
    this.unread.delete(offset);
  }
}

/** Runs up to `limit` jobs concurrently, and those of one key one after another. */
export class Lanes {
  readonly #limit: number;
  readonly #tails = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Queues a job after all jobs of the same key. A job that calls `pause` gives up its place while it waits. */
  run(key: string, job: (pause: (wait: () => Promise<void>) => Promise<void>) => Promise<void>): Promise<void> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const mine = before.then(async () => {
      await this.#enter();
      const pause = async (wait: () => Promise<void>) => {
        this.#leave();
        await wait();
        await this.#enter();
      };
      await job(pause).finally(() => this.#leave());
    });
    const tail = mine
      .catch(() => {})
      .then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    this.#tails.set(key, tail);
    return mine;
  }

  /** Resolves when no job runs or waits. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }

  async #enter(): Promise<void> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
  }

  /** Passes the place to the job that has waited longest. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
