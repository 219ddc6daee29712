import { setTimeout as after } from 'node:timers/promises';
import type { OutRecord } from '../log.ts';
import { NoAnswer, within } from '../within.ts';
import { CHUNK_BYTES, chunked, sizeOf } from './records.ts';

/** What sends for a queue. It numbers what it sends, so that a send that is repeated unchanged is written once. */
export type Sender = {
  readonly open: () => Promise<void>;
  /** Resolves to the newest stamp that a broker gave. Rejects where one did not acknowledge all of it: with Refusal, where repeating it is of no use. Sends side by side must be of different partitions. */
  readonly send: (records: readonly OutRecord[]) => Promise<number | null>;
  readonly close: () => Promise<void>;
};

/**
 * Milliseconds. `together`: how long a send of several partitions may take before each of them is sent alone; `give up`: how long a
 * partition is tried alone before its callers are told that it failed; `again`: between two tries.
 */
export type QueueLimits = { readonly togetherMs: number; readonly giveUpMs: number; readonly againMs: number };

export const LIMITS: QueueLimits = { togetherMs: 5000, giveUpMs: 15_000, againMs: 200 };

/** A share of one call that goes to one partition, and fits one send. */
type Part = {
  readonly place: string;
  readonly records: readonly OutRecord[];
  readonly bytes: number;
  readonly done: PromiseWithResolvers<number | null>;
};

/** A sender, and how many sends use it. One that is given up closes when the last has ended. */
type Shared = { readonly sender: Sender; users: number; isCurrent: boolean };

const placeOf = ({ topic, partition }: OutRecord): string => `${topic}/${partition}`;

/** The broker would refuse the same records again. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/**
 * Writes records of a partition in the order of the calls. What waits for all partitions goes together, in one send at a time. After a send
 * that failed, each of its partitions goes alone until it has succeeded: a partition without a leader delays and fails no other.
 */
export class Queue {
  readonly #open: () => Sender;
  readonly #limits: QueueLimits;
  readonly #waiting = new Map<string, Part[]>();
  /** partitions with a send under way */
  readonly #busy = new Set<string>();
  /** partitions that have failed, and not succeeded since */
  readonly #alone = new Set<string>();
  readonly #closing = new Set<Promise<void>>();
  #isTogether = false;
  #isPlanned = false;
  #current: Shared;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(open: () => Sender, limits: QueueLimits = LIMITS) {
    this.#open = open;
    this.#limits = limits;
    this.#current = { sender: open(), users: 0, isCurrent: true };
  }

  async open(): Promise<void> {
    await this.#current.sender.open();
  }

  /** Resolves when all are acknowledged, to the newest stamp that a broker gave. Rejects when one is not: the others may be. */
  async write(records: readonly OutRecord[]): Promise<number | null> {
    const parts = [...Map.groupBy(records, placeOf)].flatMap(([place, group]) =>
      chunked(group).map((chunk): Part => {
        const bytes = chunk.reduce((sum, record) => sum + sizeOf(record), 0);
        return { place, records: chunk, bytes, done: Promise.withResolvers<number | null>() };
      }),
    );
    for (const part of parts) {
      const waiting = this.#waiting.get(part.place);
      if (waiting === undefined) this.#waiting.set(part.place, [part]);
      else waiting.push(part);
    }
    this.#plan();
    const settled = await Promise.allSettled(parts.map(({ done }) => done.promise));
    const failed = settled.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const stamps = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? (outcome.value ?? []) : []));
    return stamps.length === 0 ? null : Math.max(...stamps);
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    if (!this.#isIdle()) {
      this.#idle ??= Promise.withResolvers<void>();
      await this.#idle.promise;
    }
    this.#current.isCurrent = false;
    this.#closeUnused(this.#current);
    await Promise.all(this.#closing);
  }

  /** What several calls of one moment write goes together. */
  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      this.#begin();
    });
  }

  #begin(): void {
    for (const place of this.#alone)
      if (!this.#busy.has(place)) this.#start(this.#take([place]), (parts) => this.#sendAlone(place, parts));
    if (!this.#isTogether) {
      const places = [...this.#waiting.keys()].filter((place) => !this.#alone.has(place) && !this.#busy.has(place));
      this.#start(this.#take(places), (parts) => this.#sendTogether(parts));
    }
    if (this.#isIdle()) this.#idle?.resolve();
  }

  #isIdle(): boolean {
    return this.#waiting.size === 0 && this.#busy.size === 0;
  }

  /** The first that wait for these partitions and fit one send. Removes them. */
  #take(places: readonly string[]): readonly Part[] {
    let bytes = 0;
    const taken: Part[] = [];
    for (const place of places) {
      const waiting = this.#waiting.get(place) ?? [];
      const over = waiting.findIndex((part) => {
        const isOver = taken.length > 0 && bytes + part.bytes > CHUNK_BYTES;
        if (!isOver) {
          bytes += part.bytes;
          taken.push(part);
        }
        return isOver;
      });
      const rest = over === -1 ? [] : waiting.slice(over);
      if (rest.length === 0) this.#waiting.delete(place);
      else this.#waiting.set(place, rest);
    }
    return taken;
  }

  #start(parts: readonly Part[], send: (parts: readonly Part[]) => Promise<void>): void {
    if (parts.length === 0) return;
    for (const { place } of parts) this.#busy.add(place);
    void send(parts);
  }

  /** Those acknowledged in a send that failed are not known, so all are repeated: some may be written twice. */
  async #sendTogether(parts: readonly Part[]): Promise<void> {
    this.#isTogether = true;
    const shared = this.#use();
    try {
      const sending = shared.sender.send(parts.flatMap(({ records }) => records));
      this.#finish(parts, await within(this.#limits.togetherMs, sending, 'a write'));
    } catch (error) {
      // A send without an answer may go on for long: what it repeats must not mix with ours.
      const next = error instanceof NoAnswer ? this.#renewed(shared) : shared;
      for (const [place, own] of Map.groupBy(parts, (part) => part.place)) {
        this.#alone.add(place);
        void this.#sendAlone(place, own, this.#use(next));
      }
    } finally {
      this.#isTogether = false;
      this.#release(shared);
      this.#plan();
    }
  }

  /** Repeats the same records with the same sender, so that they are written once, until they are acknowledged or the time is over. */
  async #sendAlone(place: string, parts: readonly Part[], shared: Shared = this.#use()): Promise<void> {
    const records = parts.flatMap((part) => part.records);
    const until = performance.now() + this.#limits.giveUpMs;
    for (;;) {
      try {
        const left = Math.max(1, until - performance.now());
        const stamp = await within(left, shared.sender.send(records), `a write to ${place}`);
        this.#alone.delete(place);
        this.#finish(parts, stamp);
        break;
      } catch (error) {
        if (
          error instanceof Refusal ||
          error instanceof NoAnswer ||
          performance.now() + this.#limits.againMs >= until
        ) {
          this.#fail(place, parts, error);
          // The numbering of a sender has a hole where a send has failed.
          this.#giveUp(shared);
          break;
        }
        await after(this.#limits.againMs);
      }
    }
    this.#release(shared);
    this.#plan();
  }

  #finish(parts: readonly Part[], stamp: number | null): void {
    for (const { place, done } of parts) {
      this.#busy.delete(place);
      done.resolve(stamp);
    }
  }

  /** What waits behind a send that was given up would wait as long again: it fails with it. */
  #fail(place: string, parts: readonly Part[], error: unknown): void {
    this.#busy.delete(place);
    const behind = error instanceof Refusal ? [] : (this.#waiting.get(place) ?? []);
    if (behind.length > 0) this.#waiting.delete(place);
    for (const { done } of [...parts, ...behind]) done.reject(error);
  }

  #use(shared: Shared = this.#current): Shared {
    shared.users += 1;
    return shared;
  }

  #release(shared: Shared): void {
    shared.users -= 1;
    this.#closeUnused(shared);
  }

  /** Later sends use another sender. */
  #giveUp(shared: Shared): void {
    if (!shared.isCurrent) return;
    shared.isCurrent = false;
    this.#current = { sender: this.#open(), users: 0, isCurrent: true };
    this.#closeUnused(shared);
  }

  #renewed(shared: Shared): Shared {
    this.#giveUp(shared);
    return this.#current;
  }

  #closeUnused({ isCurrent, users, sender }: Shared): void {
    if (isCurrent || users > 0) return;
    const closing = sender.close().catch(() => {});
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}
