/** A replay that a dashboard has in its memory. Times are epoch milliseconds. */
export type ReplayRow = {
  readonly replayId: string;
  readonly kind: 'verify' | 'what_if' | 'figures';
  /** from then on; null: from the first stored observation */
  readonly since: number | null;
  /** until then; null: until the last stored observation */
  readonly until: number | null;
  /** null: all agents */
  readonly agentId: string | null;
  /** the other policy; null: only a `what_if` has one */
  readonly policyName: string | null;
  readonly policyHash: string | null;
  /** the recorded policy that the other one replaces; null: all */
  readonly insteadOf: string | null;
  readonly by: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  readonly askedAt: number;
  readonly begunAt: number | null;
  readonly endedAt: number | null;
  /** records that are read */
  readonly done: number;
  /** all records to be read; null: not known yet */
  readonly of: number | null;
  /** why it has failed, or who has cancelled it */
  readonly why: string | null;
  /** when the dashboard forgets it; null: it has not ended */
  readonly keptUntil: number | null;
};

/** `result`: null until it is done. */
export type Replay = ReplayRow & { readonly result: ReplayResult | null };

export type ReplayResult = VerifyResult | WhatIfResult | FiguresResult;

/** An event of the evaluator. */
export type ReplayedEvent = { readonly type: string; readonly payload: unknown };

/** The first decision of an agent that differs. */
export type ReplayDifference = {
  readonly agent: string;
  readonly at: number;
  /** of the record that caused it; null: nothing is decided now */
  readonly position: string | null;
  /** null: it is only decided now */
  readonly recorded: ReplayedEvent | null;
  /** null: it is only recorded */
  readonly decided: ReplayedEvent | null;
  readonly reason: string;
};

/** The recorded decisions compared with those of this version. */
export type VerifyResult = {
  readonly kind: 'verify';
  readonly observations: number;
  /** decisions that are as recorded */
  readonly decisions: number;
  readonly agents: number;
  /** how many agents were known before the first stored observation, and are not compared */
  readonly earlierCount: number;
  /** the first hundred of them */
  readonly earlier: readonly string[];
  /** decisions that the evaluator had not committed when the reading began */
  readonly newer: number;
  /** observations that cannot be read */
  readonly unreadable: number;
  readonly differentCount: number;
  /** the first hundred, in the order of time */
  readonly differences: readonly ReplayDifference[];
};

/** What people see of a decision: another state, or a plan that begins, changes or ends. */
export type ReplayOutcome =
  | { readonly kind: 'state'; readonly from: string; readonly to: string; readonly reason: string }
  | { readonly kind: 'plan_begins'; readonly plan: string; readonly steps: readonly string[] }
  | { readonly kind: 'plan_changes'; readonly plan: string; readonly steps: readonly string[] }
  | { readonly kind: 'plan_ends'; readonly why: string };

/** The outcomes of one record. */
export type ReplayComparison = {
  readonly at: number;
  readonly position: string;
  /** under the recorded policies; null: none */
  readonly recorded: ReplayOutcome | null;
  /** under the other policy; null: none */
  readonly otherwise: ReplayOutcome | null;
  readonly isSame: boolean;
};

/** An agent that is judged differently, up to the first different act: a plan that begins, changes or ends. */
export type ReplayedAgent = {
  readonly agent: string;
  /** at most fifty, from shortly before the first difference */
  readonly outcomes: readonly ReplayComparison[];
  /** outcomes before and after these that are left out */
  readonly leftOut: { readonly before: number; readonly after: number };
  /** the time of the first different act; null: both act in the same way */
  readonly differsFrom: number | null;
};

/** Counts of agents and plans, up to the first different act of each agent. `stuck`: STUCK or FAILING. */
export type ReplaySide = { readonly stuck: number; readonly degraded: number; readonly plans: number };

/** A span under the recorded policies and under another one. */
export type WhatIfResult = {
  readonly kind: 'what_if';
  readonly observations: number;
  readonly agents: number;
  readonly earlierCount: number;
  /** the first hundred agents that were known before the first stored observation, and are not compared */
  readonly earlier: readonly string[];
  readonly differentCount: number;
  /** how many agents have a different act */
  readonly actedOtherwise: number;
  readonly recorded: ReplaySide;
  readonly otherwise: ReplaySide;
  /** the first hundred, in the order of their first difference */
  readonly different: readonly ReplayedAgent[];
};

/** The figures of a signal, one for each time of `FiguresResult.at`; null: it had none. */
export type ReplayedSignal = {
  readonly signal: string;
  /** whether figures and limit are milliseconds */
  readonly isDuration: boolean;
  /** the last one; null: the signal has none */
  readonly limit: number | null;
  readonly values: readonly (number | null)[];
};

/** What the signals of one agent showed in a span, as the recorded policies judge them. */
export type FiguresResult = {
  readonly kind: 'figures';
  readonly observations: number;
  /** The agent was known before the first stored observation, so figures that count from its beginning are too small. */
  readonly isEarlier: boolean;
  /** the times of the figures, oldest first, at most five hundred */
  readonly at: readonly number[];
  readonly signals: readonly ReplayedSignal[];
};
