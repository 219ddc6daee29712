import type { Heartbeat } from '@vigil/events';
import type { DeliverCommand } from '../commands.ts';
import type { AgentIdentity } from '../report/notes.ts';
import type { Progress } from '../report/progress.ts';
import type { SystemDeps } from '../system.ts';

/** The answer to a heartbeat. `intervalMs` null: the agent chooses. */
export type Answer = {
  readonly intervalMs: number | null;
  /** the policy that evaluates the agent, if the other side names it */
  readonly policy: { readonly name: string; readonly hash: string } | null;
  /** what to correct in an accepted heartbeat */
  readonly warnings: readonly string[];
};

export const noAnswer: Answer = { intervalMs: null, policy: null, warnings: [] };

/** Carries heartbeats to Vigil, and commands back. */
export type Transport = {
  /**
   * true: a heartbeat costs next to nothing, so the start of a call is reported at once too, and its end without the
   * one-second gap
   */
  readonly local: boolean;
  /**
   * Resolves when the heartbeat can no longer get lost. Throws Refused if this one will never be accepted; any other
   * error means not now.
   */
  readonly send: (heartbeat: Heartbeat, signal: AbortSignal) => Promise<Answer>;
  /** A policy's document; null: this transport cannot read policies. */
  readonly policy: (name: string, signal: AbortSignal) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

/** The dependencies of a transport. `progress`: what the agent has done so far. */
export type TransportDeps = {
  readonly identity: AgentIdentity;
  readonly system: SystemDeps;
  readonly deliver: DeliverCommand;
  readonly progress: () => Progress;
  readonly onProblem: (problem: string) => void;
};

/** Opens without waiting and without throwing: a missing server shows at the first send. */
export type OpenTransport = (line: TransportDeps) => Transport;

/** The gateway is busy, or the quota of the token is used up: the same again after `retryAfterMs`. */
export class Busy extends Error {
  override readonly name = 'Busy';
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The heartbeat is wrong and will never be accepted, so it is given up. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
