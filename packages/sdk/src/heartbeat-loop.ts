import type { BreakerReport } from '@vigil/events';
import { describeError } from './calls/error-class.ts';
import { type AgentIdentity, answered, type Notes, noNotes, takeHeartbeat } from './report/notes.ts';
import type { SystemDeps } from './system.ts';
import { type Answer, Busy, Refused, type Transport } from './transport/transport.ts';

export type HeartbeatLoopDeps = {
  readonly identity: AgentIdentity;
  readonly transport: Transport;
  readonly system: SystemDeps;
  /** null: the interval that the policy sets */
  readonly intervalMs: number | null;
  readonly breakers: () => readonly BreakerReport[];
  readonly onAnswer: (answer: Answer) => void;
  readonly onProblem: (problem: string) => void;
};

const USUAL_INTERVAL_MS = 10_000;
/** Bounds of the gap between two heartbeats. */
const SHORTEST_MS = 200;
/** The shortest gap between two heartbeats over HTTP or Kafka that only the ends of calls bring forward. */
const CALL_END_GAP_MS = 1000;
const LONGEST_MS = 3_600_000;
/** An attempt without an answer is aborted after this time and made again. */
const PATIENCE_MS = 15_000;

/**
 * Milliseconds to wait after this number of failures in a row: about 250, doubled each time, at most 10 s. Half of it
 * is random, so that the agents of a fleet do not all reconnect at the same moment.
 */
export const backOff = (failures: number, random: number): number =>
  Math.min(250 * 2 ** Math.min(failures - 1, 10), 10_000) * (0.5 + random / 2);

/** Sends heartbeats until it is finished: every interval, and at once for urgent reports. No caller waits for it. */
export class HeartbeatLoop {
  readonly #deps: HeartbeatLoopDeps;
  readonly #running: Promise<void>;
  readonly #finishing = new AbortController();
  #notes: Notes = noNotes;
  #intervalMs: number;
  /** how long after the last heartbeat the next one is due; null: an interval after it */
  #gapMs: number | null = null;
  #wake = new AbortController();
  #delivered = 0;
  readonly #warned = new Set<string>();

  constructor(deps: HeartbeatLoopDeps) {
    this.#deps = deps;
    this.#intervalMs = deps.intervalMs ?? USUAL_INTERVAL_MS;
    this.#running = this.#run().catch((error: unknown) =>
      deps.onProblem(`beating has stopped: ${describeError(error)}`),
    );
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

  /**
   * A call has ended: report it soon, but at most once a second, so that an agent with many short calls causes little
   * load.
   */
  afterCall(): void {
    this.#bringForward(this.#deps.transport.local ? SHORTEST_MS : CALL_END_GAP_MS);
  }

  #bringForward(gapMs: number): void {
    this.#gapMs = Math.min(this.#gapMs ?? gapMs, gapMs);
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    // The first heartbeat goes out after `connect` has returned, so that its caller can set what it carries.
    await Promise.resolve();
    const { signal } = this.#finishing;
    while (!signal.aborted) {
      const began = this.#deps.system.monotonic();
      this.#gapMs = null;
      await this.#deliver(signal);
      await this.#rest(began, signal);
    }
  }

  async #rest(began: number, signal: AbortSignal): Promise<void> {
    const { monotonic, pause } = this.#deps.system;
    while (!signal.aborted) {
      const left = began + Math.min(this.#gapMs ?? this.#intervalMs, this.#intervalMs) - monotonic();
      if (left <= 0) return;
      this.#wake = new AbortController();
      await pause(left, this.#wake.signal);
    }
  }

  /** Sends the same heartbeat until it is answered. After an outage the newest follows at once. */
  async #deliver(signal: AbortSignal): Promise<void> {
    const { identity, system, breakers, onProblem } = this.#deps;
    for (let failures = 0; !signal.aborted; ) {
      this.#notes = takeHeartbeat(this.#notes, identity, {
        now: system.now(),
        intervalMs: this.#intervalMs,
        breakers: breakers(),
      });
      const error = await this.#attempt(signal);
      if (error === null || error instanceof Refused) {
        if (error !== null) onProblem(`a heartbeat was refused, and is given up: ${error.message}`);
        this.#notes = answered(this.#notes);
        if (failures > 0) this.soon();
        return;
      }
      if (signal.aborted) return;
      failures += 1;
      if (failures === 1) onProblem(`heartbeats wait: ${error.message}`);
      const retryAfterMs = error instanceof Busy ? error.retryAfterMs : 0;
      await system.pause(Math.max(retryAfterMs, backOff(failures, system.random())), signal);
    }
  }

  /** Null: the heartbeat has arrived. */
  async #attempt(signal: AbortSignal): Promise<Error | null> {
    const { transport, system } = this.#deps;
    const { inFlight } = this.#notes;
    if (inFlight === null) return null;
    const [over, attempt] = [new AbortController(), new AbortController()];
    const giveUp = () => attempt.abort();
    signal.addEventListener('abort', giveUp, { signal: over.signal });
    void system.pause(PATIENCE_MS, over.signal).then(giveUp);
    try {
      this.#applyAnswer(await transport.send(inFlight, attempt.signal));
      this.#delivered += 1;
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(describeError(error));
    } finally {
      over.abort();
    }
  }

  #applyAnswer(answer: Answer): void {
    const requestedMs = this.#deps.intervalMs ?? answer.intervalMs;
    if (requestedMs !== null) this.#intervalMs = Math.min(Math.max(requestedMs, SHORTEST_MS), LONGEST_MS);
    for (const warning of answer.warnings) this.#warn(warning);
    this.#deps.onAnswer(answer);
  }

  /** Reports each warning once, however many heartbeats it comes with. */
  #warn(warning: string): void {
    if (this.#warned.has(warning)) return;
    this.#warned.add(warning);
    this.#deps.onProblem(`the gateway warns: ${warning}`);
  }

  /** Stops the loop. Pending reports go out with at most two last heartbeats, until `enough` fires. */
  async finish(last: (notes: Notes) => Notes, enough: AbortSignal): Promise<void> {
    this.#finishing.abort();
    this.#wake.abort();
    await this.#running;
    if (this.#notes.inFlight !== null) await this.#deliver(enough);
    this.#notes = last(this.#notes);
    await this.#deliver(enough);
  }
}
