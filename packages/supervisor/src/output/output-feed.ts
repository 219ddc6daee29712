import type { Chunk } from '../pty-host/ring.ts';

/** Bytes that are judged at a time. */
const SLICE_BYTES = 4096;
/** Bytes that wait to be evaluated before the program is held, and the level at which it continues. */
const MOST_WAITING = 65_536;
const FEW_WAITING = 16_384;
const CATCH_UP_MS = 5;

/** What judges output. `judge` resolves when it can take more. */
export type OutputJudge = { readonly judge: (chunk: Chunk) => void; readonly drawn: () => Promise<void> };

export type OutputSource = { readonly pause: () => void; readonly resume: () => void };

/**
 * Output of one agent on its way to evaluation: a slice at a time, and after each a rest as long as it took. An agent
 * thus takes at most half of the supervisor's time, and no other agent waits longer than a slice.
 * The program waits for its terminal meanwhile, so nothing is lost.
 */
export class OutputFeed {
  readonly #judge: OutputJudge;
  readonly #monotonic: () => number;
  #source: OutputSource | null = null;
  #waiting: Chunk[] = [];
  #bytes = 0;
  #came = 0;
  #isPaused = false;
  #isRunning = false;

  constructor(judge: OutputJudge, monotonic: () => number) {
    this.#judge = judge;
    this.#monotonic = monotonic;
  }

  /** Where the output comes from. */
  from(source: OutputSource): void {
    this.#source = source;
    this.#throttle();
  }

  push(chunk: Chunk): void {
    this.#waiting.push(chunk);
    this.#bytes += chunk.data.length;
    this.#came += chunk.data.length;
    this.#throttle();
    if (!this.#isRunning) void this.#run();
  }

  /** Resolves when all that has come so far is judged. */
  async caughtUp(): Promise<void> {
    const target = this.#came;
    while (this.#came - this.#bytes < target) await new Promise((resolve) => setTimeout(resolve, CATCH_UP_MS));
    await this.#judge.drawn();
  }

  /** Judges what waits at once: the agent has ended. */
  drain(): void {
    for (let chunk = this.#next(); chunk !== null; chunk = this.#next()) this.#judge.judge(chunk);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let chunk = this.#next(); chunk !== null; chunk = this.#next()) {
      const began = this.#monotonic();
      this.#judge.judge(chunk);
      await this.#judge.drawn();
      const took = this.#monotonic() - began;
      if (this.#bytes > 0) await new Promise((resolve) => setTimeout(resolve, took));
    }
    this.#isRunning = false;
  }

  #next(): Chunk | null {
    const [first] = this.#waiting;
    if (first === undefined) return null;
    const data = first.data.subarray(0, SLICE_BYTES);
    const rest = first.data.subarray(data.length);
    if (rest.length === 0) this.#waiting.shift();
    else this.#waiting[0] = { from: first.from + data.length, at: first.at, data: rest };
    this.#bytes -= data.length;
    this.#throttle();
    return { from: first.from, at: first.at, data };
  }

  #throttle(): void {
    if (this.#source === null) return;
    const waits = this.#isPaused ? this.#bytes > FEW_WAITING : this.#bytes > MOST_WAITING;
    if (waits === this.#isPaused) return;
    this.#isPaused = waits;
    if (waits) this.#source.pause();
    else this.#source.resume();
  }
}
