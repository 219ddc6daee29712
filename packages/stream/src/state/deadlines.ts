import FlatQueue from 'flatqueue';
import { NEVER } from '../processor/decider.ts';

/** An armed item carries its moment; NEVER where it has none. Only this file changes it. */
export type Armed = { armedAt: number };

/**
 * Finds the due ones of many without a look at the others. A heap of lower bounds, milliseconds: a deadline that moves
 * later costs nothing until the earlier moment comes, and then one look.
 */
export class Deadlines<Item extends Armed> {
  readonly #queue = new FlatQueue<Item>();

  /** The earliest moment at which an item may be due; NEVER where none is armed. */
  get next(): number {
    // What has been armed earlier or disarmed since has left its old moment in the queue.
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
