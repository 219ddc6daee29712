import { BreakerOpen } from '@vigil/circuit-breaker';
import type { ToolCall } from '@vigil/events';
import { Breakers } from './calls/breakers.ts';
import { type Begun, begin, type Call } from './calls/calls.ts';
import { describeError, errorClass, messageOf } from './calls/error-class.ts';
import { policyFollower } from './calls/policy.ts';
import { type Command, Listeners, type ReceivedCommand } from './commands.ts';
import { HeartbeatLoop } from './heartbeat-loop.ts';
import { checkedAddress, checkpointed, digestOf, type Saved } from './report/checkpoint.ts';
import { LONGEST, text } from './report/fields.ts';
import { type AgentIdentity, called, lasting, type Notes, progressOf } from './report/notes.ts';
import {
  type Ending,
  ended,
  erred,
  isUrgent,
  probeAnswered,
  type Report,
  reported,
  withinOf,
} from './report/report.ts';
import type { SystemDeps } from './system.ts';
import type { OpenTransport, Transport } from './transport/transport.ts';

/**
 * The state of the connection. `leftOut`: calls and errors that no heartbeat has carried, because too many came at
 * once.
 */
export type Status = { readonly delivered: number; readonly leftOut: number };

/** From this number of pending calls on, a heartbeat is brought forward, well before any call is left out. */
const MANY_CALLS = 50;

/**
 * One instance of an agent as it reports itself. Nothing here throws, except a wrapped call's own error and
 * BreakerOpen; nothing waits for Vigil.
 */
export class Vigil {
  readonly instanceId: string;
  readonly #system: SystemDeps;
  readonly #breakers: Breakers;
  readonly #listeners: Listeners;
  readonly #transport: Transport;
  readonly #heartbeats: HeartbeatLoop;
  readonly #onProblem: (problem: string) => void;
  #calls = 0;
  #closing: Promise<void> | null = null;

  /** Created by `connect`. */
  constructor(
    identity: AgentIdentity,
    over: OpenTransport,
    intervalMs: number | null,
    system: SystemDeps,
    onProblem: (problem: string) => void,
  ) {
    this.instanceId = identity.instanceId;
    this.#system = system;
    this.#onProblem = onProblem;
    this.#listeners = new Listeners((error) => onProblem(`onCommand failed: ${describeError(error)}`));
    this.#breakers = new Breakers(system.now, () => this.#heartbeats.soon());
    const transportDeps = {
      identity,
      system,
      onProblem,
      deliver: (command: ReceivedCommand) => this.#deliver(command),
      progress: () => progressOf(this.#heartbeats.notes),
    };
    this.#transport = over(transportDeps);
    const follow = policyFollower(this.#transport, this.#breakers, onProblem);
    this.#heartbeats = new HeartbeatLoop({
      identity,
      system,
      onProblem,
      intervalMs,
      transport: this.#transport,
      breakers: () => this.#breakers.reports(),
      onAnswer: ({ policy }) => this.#quietly(() => follow(policy)),
    });
  }

  /** Runs the call and reports it. Rejects with what `run` throws, or at once with BreakerOpen, without running it. */
  async call<T>(call: Call<T>, run: () => T | Promise<T>): Promise<T> {
    const end = this.#begin(call);
    try {
      const result = await run();
      this.#quietly(() => end({ result }));
      return result;
    } catch (error) {
      this.#quietly(() => end({ error }));
      throw error;
    }
  }

  report(report: Report): void {
    this.#note(
      (notes) => reported(notes, report),
      () => isUrgent(report),
    );
  }

  /** Reports an error outside of calls. Wrapped calls report their errors by themselves. */
  error(error: unknown): void {
    this.#note(
      (notes) => erred(notes, errorClass(error), messageOf(error), this.#system.now()),
      () => false,
    );
  }

  /** Reports a checkpoint. Resolves when its file has been read; if that fails, only a warning is reported. */
  async checkpoint(saved: Saved): Promise<void> {
    try {
      const uri = checkedAddress(saved);
      const sha256 = saved.file === undefined ? text(saved.sha256, LONGEST.name) : await digestOf(saved.file);
      this.#note((notes) => checkpointed(notes, saved, { uri, sha256 }, this.#system.now()));
    } catch (error) {
      this.#onProblem(`a checkpoint is not reported: ${describeError(error)}`);
    }
  }

  /** The agent will report checkpoints: their age counts from now on. */
  expectCheckpoints(): void {
    this.#note(
      (notes) => lasting(notes, { reports_checkpoints: true }),
      () => false,
    );
  }

  onCommand(listener: (command: Command) => unknown): void {
    this.#listeners.add(listener);
  }

  /** Commands from now on, until the agent is closed. */
  commands(): AsyncGenerator<Command, void, undefined> {
    return this.#listeners.read();
  }

  get status(): Status {
    return { delivered: this.#heartbeats.delivered, leftOut: this.#heartbeats.notes.leftOut };
  }

  /**
   * Sends the last heartbeat. Resolves when it is delivered or its time is over. Only this call keeps the process
   * alive for Vigil.
   */
  close(ending: Ending = {}): Promise<void> {
    this.#closing ??= this.#close(ending).catch((error: unknown) =>
      this.#onProblem(`closing: ${describeError(error)}`),
    );
    return this.#closing;
  }

  async #close(ending: Ending): Promise<void> {
    const enough = new AbortController();
    const limit = setTimeout(() => enough.abort(), withinOf(ending));
    const over = new Promise<void>((resolve) => enough.signal.addEventListener('abort', () => resolve()));
    try {
      await this.#heartbeats.finish((notes) => ended(notes, ending), enough.signal);
      await Promise.race([this.#transport.close(), over]);
    } finally {
      clearTimeout(limit);
      this.#listeners.end();
    }
  }

  #begin<T>(call: Call<T>): Begun<T> {
    try {
      return begin(call, {
        now: this.#system.now,
        nextId: () => this.#nextId(),
        admit: (kind) => this.#breakers.begin(kind),
        record: (record) => this.#noteCall(record),
      });
    } catch (error) {
      if (error instanceof BreakerOpen) throw error;
      this.#onProblem(`a call is not reported: ${describeError(error)}`);
      return () => {};
    }
  }

  /**
   * Every transport brings the end of a call forward; only a local one brings its start forward, because that costs
   * nothing there.
   */
  #noteCall(call: ToolCall): void {
    this.#note(
      (notes) => called(notes, call),
      () => this.#transport.local || this.#heartbeats.notes.once.tool_calls.length > MANY_CALLS,
    );
    if (call.outcome !== 'running') this.#heartbeats.afterCall();
  }

  #nextId(): string {
    this.#calls += 1;
    return `${this.instanceId.slice(0, 8)}-${this.#calls.toString(36)}`;
  }

  #note(change: (notes: Notes) => Notes, isUrgent: () => boolean = () => true): void {
    this.#quietly(() => {
      this.#heartbeats.note(change);
      if (isUrgent()) this.#heartbeats.soon();
    });
  }

  #deliver(command: ReceivedCommand): boolean {
    switch (command.kind) {
      case 'nudge':
      case 'handoff':
      case 'checkpoint':
      case 'shutdown':
        return this.#listeners.emit(command);
      case 'probe': {
        const reply = () => this.#note((notes) => probeAnswered(notes, command.nonce));
        return this.#listeners.emit({ kind: 'probe', message: command.message, reply });
      }
      case 'reset_breaker':
        this.#breakers.reset(command.name);
        return true;
    }
  }

  #quietly(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#onProblem(`something was not reported: ${describeError(error)}`);
    }
  }
}
