import { NEVER } from './decider.ts';

/**
 * Which keys may be due, without looking at those that are not. A heap of lower bounds, milliseconds: a deadline that moves later costs
 * nothing until the earlier moment comes, and then one look.
 */
export class Deadlines {
  readonly #moments: number[] = [];
  readonly #keys: string[] = [];
  /** the moment of each key that counts; any other in the heap has been overtaken */
  readonly #armed = new Map<string, number>();

  /** The earliest moment at which a key may be due; NEVER where none is armed. */
  get next(): number {
    while (this.#moments.length > 0 && this.#armed.get(this.#keys[0] as string) !== this.#moments[0]) this.#pop();
    return this.#moments[0] ?? NEVER;
  }

  arm(key: string, at: number): void {
    const known = this.#armed.get(key);
    if (at === NEVER || (known !== undefined && known <= at)) return;
    this.#armed.set(key, at);
    this.#push(key, at);
  }

  disarm(key: string): void {
    this.#armed.delete(key);
  }

  /** The keys whose moment has come. They are disarmed: arm each of them again. */
  take(now: number): readonly string[] {
    const keys: string[] = [];
    while (this.next <= now) {
      const key = this.#pop();
      this.#armed.delete(key);
      keys.push(key);
    }
    return keys;
  }

  #push(key: string, at: number): void {
    const moments = this.#moments;
    let place = moments.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if ((moments[parent] as number) <= at) break;
      this.#move(parent, place);
      place = parent;
    }
    this.#put(place, key, at);
  }

  /** Takes the first away; the last finds the place that has become free. */
  #pop(): string {
    const first = this.#keys[0] as string;
    const at = this.#moments.pop() as number;
    const key = this.#keys.pop() as string;
    const { length } = this.#moments;
    let place = 0;
    for (let child = 1; child < length; child = 2 * place + 1) {
      if (child + 1 < length && (this.#moments[child + 1] as number) < (this.#moments[child] as number)) child += 1;
      if ((this.#moments[child] as number) >= at) break;
      this.#move(child, place);
      place = child;
    }
    if (length > 0) this.#put(place, key, at);
    return first;
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#keys[from] as string, this.#moments[from] as number);
  }

  #put(place: number, key: string, at: number): void {
    this.#keys[place] = key;
    this.#moments[place] = at;
  }
}
