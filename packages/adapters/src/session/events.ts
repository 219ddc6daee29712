import type { ContextUse, TokenUsage, ToolCall, WaitingFor } from '@vigil/events';

/** Tokens, context and money of one agent so far, as its client counts them. Null and empty mean unknown. */
export type Usage = {
  readonly usage: readonly TokenUsage[];
  readonly context: ContextUse | null;
  readonly costUsd: number | null;
};

/**
 * The tokens of one answer of a model. `requestId` identifies it, so that an answer that is reported twice counts once.
 */
export type AnswerUsage = Omit<Usage, 'usage'> & { readonly requestId: string; readonly tokens: TokenUsage };

/**
 * `batch`: identifies the calls of one answer of the model; null if unknown. `asks`: the question of the call to a
 * person
 */
export type CallStart = { readonly call: ToolCall; readonly batch: string | null; readonly asks: WaitingFor | null };

/**
 * One fact about a session of a coding agent, independent of its client. Adapters translate hook payloads, output
 * streams and telemetry into these facts; `observe` in session.ts folds them into reports.
 */
export type SessionFact =
  | { readonly kind: 'session_started'; readonly source: 'start' | 'resume' | 'clear' | 'compact' }
  | { readonly kind: 'session_ended'; readonly continues: boolean }
  | { readonly kind: 'turn_started' }
  /** `wakes`: a background task or a timer starts the next turn without a person */
  | { readonly kind: 'turn_ended'; readonly wakes: boolean }
  | { readonly kind: 'turn_interrupted' }
  /** `passes`: the same request may succeed later; `retryAt` in epoch milliseconds, null: unknown */
  | {
      readonly kind: 'turn_failed';
      readonly errorClass: string;
      readonly passes: boolean;
      readonly retryAt: number | null;
    }
  | ({ readonly kind: 'call_started' } & CallStart)
  /**
   * `name`: identifies the open call, by its id, else by its tool and arguments. `isOutcomeInFile`: only the session
   * file has the outcome, and `call` assumes a success
   */
  | { readonly kind: 'call_ended'; readonly call: ToolCall; readonly name: CallName; readonly isOutcomeInFile?: true }
  /** the same while the file is read: its line, which may come later, ends the call; without a line, `call` counts */
  | { readonly kind: 'call_outcome_pending'; readonly call: ToolCall; readonly name: CallName }
  /** no line of the file came in time, so the agent's calls with an overdue outcome end as they were reported */
  | { readonly kind: 'outcomes_overdue' }
  /**
   * a permission rule, a person or a limit refused a call; it is identified by its id, else by its tool and arguments
   */
  | { readonly kind: 'call_refused'; readonly call: CallName }
  /**
   * all calls of a batch have ended; `calls`: those with a reported result, with the outcome `abandoned` if it is
   * unknown
   */
  | { readonly kind: 'batch_ended'; readonly calls: readonly ToolCall[] }
  /** the start of a call in the session file, in case its hook was lost; like `call_started` */
  | ({ readonly kind: 'call_seen' } & CallStart)
  /**
   * the model has received a result of that call; `refused`: the call was not made; `errorClass`: null if the result
   * shows no failure
   */
  | {
      readonly kind: 'result_seen';
      readonly callId: string;
      readonly refused: boolean;
      readonly errorClass: string | null;
    }
  /** the end of a call without an id in the session file; it ends the open call of that name if that began before */
  | { readonly kind: 'end_seen'; readonly call: ToolCall; readonly name: CallName }
  /** the model has answered without a call; `wakes` as in `turn_ended` */
  | { readonly kind: 'last_answer_seen'; readonly wakes: boolean }
  | { readonly kind: 'wait_started'; readonly waiting: WaitingFor; readonly call: CallName | null }
  | { readonly kind: 'wait_ended' }
  /**
   * the hook of the request has returned a person's answer, so its client shows no dialog; `call`: as in the request.
   * `refused`: the call is not made
   */
  | { readonly kind: 'wait_answered'; readonly call: CallName | null; readonly refused: boolean }
  /** the client is at its own prompt, so an open turn has ended without a report */
  | { readonly kind: 'at_prompt' }
  | { readonly kind: 'subagent_started'; readonly id: string; readonly type: string | null }
  | { readonly kind: 'subagent_ended'; readonly id: string }
  | { readonly kind: 'phase_changed'; readonly phase: string }
  /** the model has begun or continued an answer */
  | { readonly kind: 'model_answers' }
  /** the client's own count replaces the previous one */
  | { readonly kind: 'usage_counted'; readonly usage: Usage }
  | { readonly kind: 'answer_counted'; readonly answer: AnswerUsage }
  /** a count of another source, such as metrics; it replaces the previous one unless that is the client's own */
  | { readonly kind: 'usage_metered'; readonly usage: Usage }
  /** a limit refused a request, which the client retries by itself; `retryAt` in epoch milliseconds, null: unknown */
  | { readonly kind: 'request_limited'; readonly retryAt: number | null };

/** Facts of a session file that replace lost hooks. A reader of only the file reports calls and turns itself. */
export const isSeen = ({ kind }: SessionFact): boolean =>
  kind === 'call_seen' || kind === 'result_seen' || kind === 'end_seen' || kind === 'last_answer_seen';

export type CallName = {
  readonly callId: string | null;
  readonly tool: string;
  readonly argsHash: string | null;
};

/** `at`: epoch milliseconds on the host of the client. `agent`: the client's id of a sub-agent; null: the session's own agent. */
export type SessionEvent = { readonly at: number; readonly agent: string | null } & SessionFact;

export const eventsAt = (at: number, agent: string | null, facts: readonly SessionFact[]): readonly SessionEvent[] =>
  facts.map((fact) => ({ ...fact, at, agent }));

/** The name of a call in a report. */
export const nameOf = ({ call_id, tool, args_hash }: ToolCall): CallName => ({
  callId: call_id,
  tool,
  argsHash: args_hash,
});

export const callStarted = (call: ToolCall, batch: string | null, asks: WaitingFor | null): SessionFact => ({
  kind: 'call_started',
  call,
  batch,
  asks,
});

/** The end of a call with a known id. */
export const callEnded = (call: ToolCall): SessionFact => ({ kind: 'call_ended', call, name: nameOf(call) });
