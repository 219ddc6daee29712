import { NEVER } from '../processor/decider.ts';
import { type Armed, Deadlines } from './deadlines.ts';

type Timer = Armed & { readonly key: string };

/** Deadlines of what is known by its key alone. */
export class Timers {
  readonly #timers = new Map<string, Timer>();
  readonly #deadlines = new Deadlines<Timer>();

  arm(key: string, at: number): void {
    let timer = this.#timers.get(key);
    if (timer === undefined) {
      timer = { key, armedAt: NEVER };
      this.#timers.set(key, timer);
    }
    this.#deadlines.arm(timer, at);
  }

  disarm(key: string): void {
    const timer = this.#timers.get(key);
    if (timer === undefined) return;
    this.#deadlines.disarm(timer);
    this.#timers.delete(key);
  }

  /** The keys whose moment has come. They are disarmed: arm each of them again. */
  take(now: number): readonly string[] {
    return this.#deadlines.take(now).map(({ key }) => key);
  }
}
