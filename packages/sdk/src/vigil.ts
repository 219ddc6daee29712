import { BreakerOpen } from '@vigil/circuit-breaker';
import type { ToolCall } from '@vigil/events';
import { Beating } from './beating.ts';
import { Breakers } from './breakers.ts';
import { type Begun, begin, type Call } from './calls.ts';
import { checkpointed, digestOf, type Saved } from './checkpoint.ts';
import { type Ending, ended, withinOf } from './ending.ts';
import { errorClass, inWords, messageOf } from './error-class.ts';
import { LONGEST, text } from './fields.ts';
import type { Who } from './heartbeat.ts';
import { called, lasting, type Notes, progressOf } from './notes.ts';
import { PolicyFollower } from './policy-follower.ts';
import { erred, isUrgent, probeAnswered, type Report, reported } from './saying.ts';
import type { Over, Transport } from './transport/transport.ts';
import { type Heard, Listeners, type Word } from './words.ts';
import type { World } from './world.ts';

/** How it goes between agent and Vigil. `leftOut`: calls and errors that no heartbeat has carried, because too many came at once. */
export type Status = { readonly delivered: number; readonly leftOut: number };

/** So many calls are worth a heartbeat of their own, well before any has to be left out. */
const MANY_CALLS = 50;

/** One life of an agent as it reports itself. Nothing here throws, except a wrapped call's own error and BreakerOpen; nothing waits for Vigil. */
export class Vigil {
  readonly instanceId: string;
  readonly #world: World;
  readonly #breakers: Breakers;
  readonly #listeners: Listeners;
  readonly #transport: Transport;
  readonly #beating: Beating;
  readonly #tell: (problem: string) => void;
  #calls = 0;
  #closing: Promise<void> | null = null;

  /** Made by `connect`. */
  constructor(who: Who, over: Over, intervalMs: number | null, world: World, tell: (problem: string) => void) {
    this.instanceId = who.instanceId;
    this.#world = world;
    this.#tell = tell;
    this.#listeners = new Listeners((error) => tell(`onWord failed: ${inWords(error)}`));
    this.#breakers = new Breakers(world.now, () => this.#beating.soon());
    const line = {
      who,
      world,
      tell,
      hear: (heard: Heard) => this.#hear(heard),
      progress: () => progressOf(this.#beating.notes),
    };
    this.#transport = over(line);
    const following = new PolicyFollower(this.#transport, this.#breakers, tell);
    this.#beating = new Beating({
      ...{ who, world, tell, intervalMs, transport: this.#transport },
      breakers: () => this.#breakers.reports(),
      onAnswer: ({ policy }) => this.#quietly(() => following.heed(policy)),
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

  /** An error outside of calls, which report theirs by themselves. */
  error(error: unknown): void {
    this.#note(
      (notes) => erred(notes, errorClass(error), messageOf(error), this.#world.now()),
      () => false,
    );
  }

  /** What was saved. Resolves when its file has been read; where that fails, nothing is reported but a warning. */
  async checkpoint(saved: Saved): Promise<void> {
    try {
      const sha256 = saved.file === undefined ? text(saved.sha256, LONGEST.name) : await digestOf(saved.file);
      this.#note((notes) => checkpointed(notes, saved, sha256, this.#world.now()));
    } catch (error) {
      this.#tell(`a checkpoint is not reported: ${inWords(error)}`);
    }
  }

  /** It will report checkpoints: their age counts from now on. */
  expectCheckpoints(): void {
    this.#note(
      (notes) => lasting(notes, { reportsCheckpoints: true }),
      () => false,
    );
  }

  onWord(listener: (word: Word) => unknown): void {
    this.#listeners.add(listener);
  }

  /** Words from now on, until the agent is closed. */
  words(): AsyncGenerator<Word, void, undefined> {
    return this.#listeners.read();
  }

  get status(): Status {
    return { delivered: this.#beating.delivered, leftOut: this.#beating.notes.leftOut };
  }

  /** The last heartbeat; resolves when it is delivered or its time is over. Only here the process is kept alive for Vigil. */
  close(ending: Ending = {}): Promise<void> {
    this.#closing ??= this.#close(ending).catch((error: unknown) => this.#tell(`closing: ${inWords(error)}`));
    return this.#closing;
  }

  async #close(ending: Ending): Promise<void> {
    const enough = new AbortController();
    const limit = setTimeout(() => enough.abort(), withinOf(ending));
    const over = new Promise<void>((resolve) => enough.signal.addEventListener('abort', () => resolve()));
    try {
      await this.#beating.finish((notes) => ended(notes, ending), enough.signal);
      await Promise.race([this.#transport.close(), over]);
    } finally {
      clearTimeout(limit);
      this.#listeners.end();
    }
  }

  #begin<T>(call: Call<T>): Begun<T> {
    try {
      return begin(call, {
        now: this.#world.now,
        nextId: () => this.#nextId(),
        admit: (kind) => this.#breakers.begin(kind),
        tell: (told) => this.#noteCall(told),
      });
    } catch (error) {
      if (error instanceof BreakerOpen) throw error;
      this.#tell(`a call is not reported: ${inWords(error)}`);
      return () => {};
    }
  }

  /** The end of a call is judged at once, wherever it is reported; its start only where that costs nothing. */
  #noteCall(call: ToolCall): void {
    this.#note(
      (notes) => called(notes, call),
      () => this.#transport.local || this.#beating.notes.once.calls.length > MANY_CALLS,
    );
    if (call.outcome !== 'running') this.#beating.afterCall();
  }

  #nextId(): string {
    this.#calls += 1;
    return `${this.instanceId.slice(0, 8)}-${this.#calls.toString(36)}`;
  }

  #note(change: (notes: Notes) => Notes, isUrgent: () => boolean = () => true): void {
    this.#quietly(() => {
      this.#beating.note(change);
      if (isUrgent()) this.#beating.soon();
    });
  }

  #hear(heard: Heard): boolean {
    switch (heard.kind) {
      case 'nudge':
      case 'handoff':
      case 'shutdown':
        return this.#listeners.say(heard);
      case 'probe': {
        const reply = () => this.#note((notes) => probeAnswered(notes, heard.nonce));
        return this.#listeners.say({ kind: 'probe', message: heard.message, reply });
      }
      case 'reset_breaker':
        this.#breakers.reset(heard.name);
        return true;
    }
  }

  #quietly(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#tell(`something was not reported: ${inWords(error)}`);
    }
  }
}
