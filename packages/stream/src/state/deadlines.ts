import FlatQueue from 'flatqueue';
import { NEVER } from '../processor/decider.ts';

/** The time of an armed item; NEVER if it is not armed. Only this file changes it. */
export type Armed = { armedAt: number };

/**
 * Finds the due items without checking the others. It is a heap of lower bounds, milliseconds. A deadline that moves
 * later costs nothing until the earlier time comes, and then one check.
 */
export class Deadlines<Item extends Armed> {
  readonly #queue = new FlatQueue<Item>();

  /** The earliest time at which an item may be due; NEVER if none is armed. */
  get next(): number {
    // Items that were armed earlier or disarmed leave their old time in the queue.
    while (this.#queue.length > 0 && this.#queue.peek()?.armedAt !== this.#queue.peekValue()) this.#queue.pop();
    return this.#queue.peekValue() ?? NEVER;
  }

  arm(item: Item, at: number): void {
    if (item.armedAt <= at) return;
    item.armedAt = at;
    this.#queue.push(item, at);
  }

  disarm(item: Item): void {
    item.armedAt = NEVER;
  }

  /** The due items. They are disarmed: arm each of them again. */
  take(now: number): readonly Item[] {
    const items: Item[] = [];
    while (this.next <= now) {
      const item = this.#queue.pop() as Item;
      item.armedAt = NEVER;
      items.push(item);
    }
    return items;
  }
}

type Timer = Armed & { readonly key: string };

/** Deadlines by key. */
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

  /** The due keys. They are disarmed: arm each of them again. */
  take(now: number): readonly string[] {
    return this.#deadlines.take(now).map(({ key }) => key);
  }
}
