import type { BreakerReport } from '@vigil/events';
import { inWords } from './error-class.ts';
import type { Who } from './heartbeat.ts';
import { answered, beat, type Notes, noNotes } from './notes.ts';
import { type Answer, Refused, type Transport } from './transport/transport.ts';
import type { World } from './world.ts';

export type BeatingParts = {
  readonly who: Who;
  readonly transport: Transport;
  readonly world: World;
  /** null: as the policy asks */
  readonly intervalMs: number | null;
  readonly breakers: () => readonly BreakerReport[];
  readonly onAnswer: (answer: Answer) => void;
  readonly tell: (problem: string) => void;
};

const USUAL_INTERVAL_MS = 10_000;
/** Between two heartbeats there is at least so much, whatever happens; and at most. */
const SHORTEST_MS = 200;
/** Between two heartbeats that only the ends of calls bring forward, over HTTP or Kafka, there is at least so much. */
const CALL_END_GAP_MS = 1000;
const LONGEST_MS = 3_600_000;
/** An attempt unanswered for so long is given up and made again. */
const PATIENCE_MS = 15_000;

/** How long to wait after so many failures in a row: about 250 ms, doubled each time, at most 10 s; a fleet does not come back at once. */
export const backOff = (failures: number, random: number): number =>
  Math.min(250 * 2 ** Math.min(failures - 1, 10), 10_000) * (0.5 + random / 2);

/** Beats until it is finished: every interval, and at once where that is worth it. Nobody waits for it. */
export class Beating {
  readonly #parts: BeatingParts;
  readonly #running: Promise<void>;
  readonly #finishing = new AbortController();
  #notes: Notes = noNotes;
  #intervalMs: number;
  /** how long after the last heartbeat the next one is due; null: an interval after it */
  #gapMs: number | null = null;
  #wake = new AbortController();
  #delivered = 0;
  readonly #warned = new Set<string>();

  constructor(parts: BeatingParts) {
    this.#parts = parts;
    this.#intervalMs = parts.intervalMs ?? USUAL_INTERVAL_MS;
    this.#running = this.#run().catch((error: unknown) => parts.tell(`beating has stopped: ${inWords(error)}`));
  }

  get notes(): Notes {
    return this.#notes;
  }
  get delivered(): number {
    return this.#delivered;
  }

  note(change: (notes: Notes) => Notes): void {
    this.#notes = change(this.#notes);
  }

  soon(): void {
    this.#bringForward(SHORTEST_MS);
  }

  /** A call has ended: soon, but at most once a second, so that an agent of many short calls causes little load. */
  afterCall(): void {
    this.#bringForward(this.#parts.transport.local ? SHORTEST_MS : CALL_END_GAP_MS);
  }

  #bringForward(gapMs: number): void {
    this.#gapMs = Math.min(this.#gapMs ?? gapMs, gapMs);
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    // The first heartbeat goes when whoever connects has said who it is.
    await Promise.resolve();
    const { signal } = this.#finishing;
    while (!signal.aborted) {
      const began = this.#parts.world.monotonic();
      this.#gapMs = null;
      await this.#deliver(signal);
      await this.#rest(began, signal);
    }
  }

  async #rest(began: number, signal: AbortSignal): Promise<void> {
    const { monotonic, pause } = this.#parts.world;
    while (!signal.aborted) {
      const left = began + Math.min(this.#gapMs ?? this.#intervalMs, this.#intervalMs) - monotonic();
      if (left <= 0) return;
      this.#wake = new AbortController();
      await pause(left, this.#wake.signal);
    }
  }

  /** The same heartbeat until it is answered; after an outage the newest follows at once. */
  async #deliver(signal: AbortSignal): Promise<void> {
    const { who, world, breakers, tell } = this.#parts;
    for (let failures = 0; !signal.aborted; ) {
      this.#notes = beat(this.#notes, who, { now: world.now(), intervalMs: this.#intervalMs, breakers: breakers() });
      const error = await this.#attempt(signal);
      if (error === null || error instanceof Refused) {
        if (error !== null) tell(`a heartbeat was refused, and is given up: ${error.message}`);
        this.#notes = answered(this.#notes);
        if (failures > 0) this.soon();
        return;
      }
      if (signal.aborted) return;
      failures += 1;
      if (failures === 1) tell(`heartbeats wait: ${error.message}`);
      await world.pause(backOff(failures, world.random()), signal);
    }
  }

  /** Null: it has arrived. */
  async #attempt(signal: AbortSignal): Promise<Error | null> {
    const { transport, world } = this.#parts;
    const { onItsWay } = this.#notes;
    if (onItsWay === null) return null;
    const [over, attempt] = [new AbortController(), new AbortController()];
    const giveUp = () => attempt.abort();
    signal.addEventListener('abort', giveUp, { signal: over.signal });
    void world.pause(PATIENCE_MS, over.signal).then(giveUp);
    try {
      this.#heed(await transport.send(onItsWay, attempt.signal));
      this.#delivered += 1;
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(inWords(error));
    } finally {
      over.abort();
    }
  }

  #heed(answer: Answer): void {
    const asked = this.#parts.intervalMs ?? answer.intervalMs;
    if (asked !== null) this.#intervalMs = Math.min(Math.max(asked, SHORTEST_MS), LONGEST_MS);
    for (const warning of answer.warnings) this.#warn(warning);
    this.#parts.onAnswer(answer);
  }

  /** Each warning once, however many heartbeats it comes with. */
  #warn(warning: string): void {
    if (this.#warned.has(warning)) return;
    this.#warned.add(warning);
    this.#parts.tell(`the gateway warns: ${warning}`);
  }

  /** Stops beating; what is untold goes out with two last heartbeats at most, while `enough` does not fire. */
  async finish(last: (notes: Notes) => Notes, enough: AbortSignal): Promise<void> {
    this.#finishing.abort();
    this.#wake.abort();
    await this.#running;
    if (this.#notes.onItsWay !== null) await this.#deliver(enough);
    this.#notes = last(this.#notes);
    await this.#deliver(enough);
  }
}
