/** What a step asks, resolved: durations in milliseconds, templates as texts with {placeholders}. It travels in the warrant as a PlanStep. */
export type Step =
  | { readonly step: 'nudge'; readonly attempts: number; readonly intervalMs: number; readonly message: string }
  | { readonly step: 'interrogate'; readonly waitsMs: readonly number[]; readonly message: string }
  /** the client's turn is interrupted, and the agent gets `message` at its prompt; the next step follows after `waitMs` */
  | { readonly step: 'interrupt'; readonly waitMs: number; readonly message: string }
  /**
   * The client's processes are ended and the same session is started again with `message`; the next step follows after
   * `waitMs`. Skipped where the instance was resumed less than `againAfterMs` ago. `graceMs`: between SIGINT and SIGTERM.
   */
  | {
      readonly step: 'resume';
      readonly waitMs: number;
      readonly graceMs: number;
      readonly againAfterMs: number;
      readonly message: string;
    }
  | {
      readonly step: 'escalate';
      /** null: waits for ever */
      readonly timeoutMs: number | null;
      readonly onTimeout: 'terminate' | 'hold';
      readonly options: readonly string[];
    }
  | { readonly step: 'handoff'; readonly deadlineMs: number; readonly message: string }
  | { readonly step: 'pause'; readonly backoffMs: number; readonly message: string }
  | {
      readonly step: 'terminate';
      readonly graceMs: number;
      readonly cleanupMs: number;
      readonly leave: 'in_progress' | 'released' | 'blocked';
      readonly release: readonly string[];
      /** any of them; empty: no condition. Unmet: the step is skipped and the case goes to people */
      readonly requires: readonly ('hard' | 'two_axes' | 'unanswered')[];
    }
  | { readonly step: 'recover' }
  | { readonly step: 'block'; readonly reason: string }
  | { readonly step: 'alert'; readonly channel: string | null; readonly severity: 'info' | 'warning' | 'critical' };

/** A policy's first matching plan. `name` is its `when`. */
export type Plan = { readonly name: string; readonly steps: readonly Step[] };

/** How often a circuit breaker lets fail in a row, how long its pause is then, and how many trials end it. */
export type BreakerLimits = {
  readonly failureThreshold: number;
  readonly recoveryTimeoutMs: number;
  readonly halfOpenRequests: number;
};

/** How a task is put on a fresh agent; travels in the warrant and in RecoverTask. */
export type RecoverySettings = {
  readonly maxAttempts: number;
  /** before attempts 1, 2, 3 …; the last repeats */
  readonly delaysMs: readonly number[];
  /** how much longer a delay may get, 0.2 = a fifth; from a hash of task and attempt */
  readonly jitter: number;
  readonly spawnDeadlineMs: number;
  readonly probationMs: number;
  readonly stableMs: number;
  /** the longest wait for the reset of a limit: one that is further away may be a mistake of the client */
  readonly limitWaitMs: number;
  readonly onProbationFailure: 'retry' | 'review';
  readonly breaker: BreakerLimits;
  /** write omniclaude's onex.evt.omniclaude.agent-healthcheck.v1 */
  readonly emitHealthcheck: boolean;
};
