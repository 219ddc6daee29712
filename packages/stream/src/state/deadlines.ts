import { NEVER } from '../processor/decider.ts';

/** An armed item carries its moment; NEVER where it has none. Only this file changes it. */
export type Armed = { armedAt: number };

/**
 * Finds the due ones of many without a look at the others. A heap of lower bounds, milliseconds: a deadline that moves
 * later costs nothing until the earlier moment comes, and then one look.
 */
export class Deadlines<Item extends Armed> {
  readonly #moments: number[] = [];
  readonly #items: Item[] = [];

  /** The earliest moment at which an item may be due; NEVER where none is armed. */
  get next(): number {
    // What has been armed earlier or disarmed since has left its old moment in the heap.
    while (this.#moments.length > 0 && this.#items[0]?.armedAt !== this.#moments[0]) this.#pop();
    return this.#moments[0] ?? NEVER;
  }

  arm(item: Item, at: number): void {
    if (item.armedAt <= at) return;
    item.armedAt = at;
    this.#push(item, at);
  }

  disarm(item: Item): void {
    item.armedAt = NEVER;
  }

  /** The due items. They are disarmed: arm each of them again. */
  take(now: number): readonly Item[] {
    const items: Item[] = [];
    while (this.next <= now) {
      const item = this.#pop();
      item.armedAt = NEVER;
      items.push(item);
    }
    return items;
  }

  #push(item: Item, at: number): void {
    const moments = this.#moments;
    let place = moments.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if ((moments[parent] as number) <= at) break;
      this.#move(parent, place);
      place = parent;
    }
    this.#put(place, item, at);
  }

  /** Takes the first away; the last finds the place that has become free. */
  #pop(): Item {
    const first = this.#items[0] as Item;
    const at = this.#moments.pop() as number;
    const item = this.#items.pop() as Item;
    const { length } = this.#moments;
    let place = 0;
    for (let child = 1; child < length; child = 2 * place + 1) {
      if (child + 1 < length && (this.#moments[child + 1] as number) < (this.#moments[child] as number)) child += 1;
      if ((this.#moments[child] as number) >= at) break;
      this.#move(child, place);
      place = child;
    }
    if (length > 0) this.#put(place, item, at);
    return first;
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#items[from] as Item, this.#moments[from] as number);
  }

  #put(place: number, item: Item, at: number): void {
    this.#items[place] = item;
    this.#moments[place] = at;
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
