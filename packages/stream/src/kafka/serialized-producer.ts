import { setTimeout as after } from 'node:timers/promises';
import type { OutRecord } from '../log/log.ts';
import { NoAnswer, within } from '../runner/within.ts';
import { CHUNK_BYTES, chunked, sizeOf } from './records.ts';

/**
 * The idempotent sender of a queue. It numbers its records, so that a send that is repeated unchanged is written once.
 */
export type Sender = {
  readonly open: () => Promise<void>;
  /**
   * Resolves to the newest timestamp that a broker assigned. Rejects if a broker did not acknowledge all records: with
   * Refusal, if a retry cannot succeed. Concurrent sends must be of different partitions.
   */
  readonly send: (records: readonly OutRecord[]) => Promise<number | null>;
  readonly close: () => Promise<void>;
};

/**
 * Milliseconds. `giveUpMs`: how long a send is retried before its callers fail; `againMs`: the time between two tries.
 */
export type ProducerLimits = { readonly giveUpMs: number; readonly againMs: number };

export const LIMITS: ProducerLimits = { giveUpMs: 20_000, againMs: 200 };

/** The records of one call that go to one partition and fit one send. */
type Part = {
  readonly place: string;
  readonly records: readonly OutRecord[];
  readonly bytes: number;
  readonly done: PromiseWithResolvers<number | null>;
};

/** A sender, and how many sends use it. A replaced sender closes when its last send has ended. */
type Shared = { readonly sender: Sender; users: number; isCurrent: boolean };

const placeOf = ({ topic, partition }: OutRecord): string => `${topic}/${partition}`;

/** The broker would refuse the same records again. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/**
 * Writes the records of a partition in the order of the calls, one send at a time. A send has one partition, so a
 * partition without a leader delays and fails no other. A send that is repeated unchanged is written once. With several
 * partitions it would not be: the acknowledged ones would get new sequence numbers.
 */
export class SerializedProducer {
  readonly #open: () => Sender;
  readonly #limits: ProducerLimits;
  readonly #waiting = new Map<string, Part[]>();
  /** partitions with a send under way */
  readonly #busy = new Set<string>();
  readonly #closing = new Set<Promise<void>>();
  #isPlanned = false;
  #current: Shared;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(open: () => Sender, limits: ProducerLimits = LIMITS) {
    this.#open = open;
    this.#limits = limits;
    this.#current = { sender: open(), users: 0, isCurrent: true };
  }

  async open(): Promise<void> {
    await this.#current.sender.open();
  }

  /**
   * Resolves when all records are acknowledged, to the newest timestamp that a broker assigned. Rejects if one is not;
   * the others may be written.
   */
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

  /** Waits for the sends in progress. */
  async close(): Promise<void> {
    if (!this.#isIdle()) {
      this.#idle ??= Promise.withResolvers<void>();
      await this.#idle.promise;
    }
    this.#current.isCurrent = false;
    this.#closeUnused(this.#current);
    await Promise.all(this.#closing);
  }

  /** Records that several calls write to a partition at one moment go in one send. */
  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      this.#begin();
    });
  }

  #begin(): void {
    for (const place of [...this.#waiting.keys()])
      if (!this.#busy.has(place)) void this.#send(place, this.#take(place));
    if (this.#isIdle()) this.#idle?.resolve();
  }

  #isIdle(): boolean {
    return this.#waiting.size === 0 && this.#busy.size === 0;
  }

  /** Removes and returns the first queued records of this partition that fit one send. */
  #take(place: string): readonly Part[] {
    const waiting = this.#waiting.get(place) ?? [];
    let bytes = 0;
    const over = waiting.findIndex((part, index) => {
      bytes += part.bytes;
      return index > 0 && bytes > CHUNK_BYTES;
    });
    const rest = over === -1 ? [] : waiting.slice(over);
    if (rest.length === 0) this.#waiting.delete(place);
    else this.#waiting.set(place, rest);
    return over === -1 ? waiting : waiting.slice(0, over);
  }

  /** Repeats the same records with the same sender until they are acknowledged or the time is over. */
  async #send(place: string, parts: readonly Part[]): Promise<void> {
    this.#busy.add(place);
    const shared = this.#use();
    const records = parts.flatMap((part) => part.records);
    const until = performance.now() + this.#limits.giveUpMs;
    const { againMs } = this.#limits;
    for (;;) {
      try {
        const left = Math.max(1, until - performance.now());
        this.#finish(place, parts, await within(left, shared.sender.send(records), `a write to ${place}`));
        break;
      } catch (error) {
        const isOver = performance.now() + againMs >= until;
        if (error instanceof Refusal || error instanceof NoAnswer || isOver) {
          this.#fail(place, parts, error);
          // A failed send leaves a gap in the sequence numbers of its sender.
          this.#giveUp(shared);
          break;
        }
        await after(againMs);
      }
    }
    this.#release(shared);
    this.#plan();
  }

  #finish(place: string, parts: readonly Part[], stamp: number | null): void {
    this.#busy.delete(place);
    for (const { done } of parts) done.resolve(stamp);
  }

  /** Records queued behind a send that timed out fail with it: they would wait as long again. */
  #fail(place: string, parts: readonly Part[], error: unknown): void {
    this.#busy.delete(place);
    const behind = error instanceof Refusal ? [] : (this.#waiting.get(place) ?? []);
    if (behind.length > 0) this.#waiting.delete(place);
    for (const { done } of [...parts, ...behind]) done.reject(error);
  }

  #use(): Shared {
    this.#current.users += 1;
    return this.#current;
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

  #closeUnused({ isCurrent, users, sender }: Shared): void {
    if (isCurrent || users > 0) return;
    const closing = sender.close().catch(() => {});
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}
