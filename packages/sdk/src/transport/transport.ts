import type { Heartbeat } from '@vigil/events';
import type { Who } from '../heartbeat.ts';
import type { Progress } from '../progress.ts';
import type { Hear } from '../words.ts';
import type { World } from '../world.ts';

/** What came back with a heartbeat. `intervalMs` null: beat as you like. */
export type Answer = {
  readonly intervalMs: number | null;
  /** the policy that the heartbeat is judged by, where the other side says */
  readonly policy: { readonly name: string; readonly hash: string } | null;
  /** what should be corrected in a heartbeat that was taken */
  readonly warnings: readonly string[];
};

export const noAnswer: Answer = { intervalMs: null, policy: null, warnings: [] };

/** A way for heartbeats to Vigil, and for words back. */
export type Transport = {
  /** true: a heartbeat costs next to nothing, so the start of a call is reported at once too, and its end without the second's gap */
  readonly local: boolean;
  /** Resolves when it will not get lost any more. Throws Refused where this one will never be taken; anything else: not now. */
  readonly send: (heartbeat: Heartbeat, signal: AbortSignal) => Promise<Answer>;
  /** A policy's document; null: it cannot be asked for here. */
  readonly policy: (name: string, signal: AbortSignal) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

/** What a transport is opened with. `progress`: what the agent has done so far. */
export type Line = {
  readonly who: Who;
  readonly world: World;
  readonly hear: Hear;
  readonly progress: () => Progress;
  readonly tell: (problem: string) => void;
};

/** Opens without waiting and without throwing: whether anybody is there shows when something is sent. */
export type Over = (line: Line) => Transport;

/** It will never be taken: what was sent is wrong, and is given up. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
