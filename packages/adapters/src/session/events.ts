import type { ContextUse, TokenUsage, ToolCall, WaitingFor } from '@vigil/events';

/** Tokens, context and money of one agent so far, as its client counts them. Null and empty: unknown. */
export type Usage = {
  readonly usage: readonly TokenUsage[];
  readonly context: ContextUse | null;
  readonly costUsd: number | null;
};

/** The tokens of one answer of a model. `requestId`: an answer that is reported twice counts once. */
export type AnswerUsage = Omit<Usage, 'usage'> & { readonly requestId: string; readonly tokens: TokenUsage };

/** `batch`: the calls of one answer of the model have the same; null: unknown. `asks`: the call itself asks a person */
export type CallStart = { readonly call: ToolCall; readonly batch: string | null; readonly asks: WaitingFor | null };

/**
 * One fact about a session of a coding agent, in words that belong to no client. Adapters translate hook payloads, output
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
   * `name`: which open call it is, by its id, else by its tool and arguments. `isOutcomeInFile`: only the file of the session has the
   * outcome, and `call` has that of a success
   */
  | { readonly kind: 'call_ended'; readonly call: ToolCall; readonly name: CallName; readonly isOutcomeInFile?: true }
  /** the same, where the file is read: its line, which may come later, ends the call; `call` counts where no line comes */
  | { readonly kind: 'call_outcome_pending'; readonly call: ToolCall; readonly name: CallName }
  /** no line of the file came in time: the calls of the agent whose outcome has been awaited too long end as they were reported */
  | { readonly kind: 'outcomes_overdue' }
  /** permissions, a person or a limit refused a call; named by its id, else by its tool and arguments */
  | { readonly kind: 'call_refused'; readonly call: CallName }
  /** all calls of a batch have ended; `calls`: those whose result is reported, with outcome `abandoned` where that is not known */
  | { readonly kind: 'batch_ended'; readonly calls: readonly ToolCall[] }
  /** the file of the session shows what hooks report, too, so that a hook that is lost does no harm; as `call_started` */
  | ({ readonly kind: 'call_seen' } & CallStart)
  /** the model has got a result of that call; `refused`: the call was not made; `errorClass` null: the result does not show a failure */
  | {
      readonly kind: 'result_seen';
      readonly callId: string;
      readonly refused: boolean;
      readonly errorClass: string | null;
    }
  /** the file shows how a call ended that no id names; it ends the open call of that name, if that began before */
  | { readonly kind: 'end_seen'; readonly call: ToolCall; readonly name: CallName }
  /** the model has answered without a call; `wakes` as in `turn_ended` */
  | { readonly kind: 'last_answer_seen'; readonly wakes: boolean }
  | { readonly kind: 'wait_started'; readonly waiting: WaitingFor; readonly call: CallName | null }
  | { readonly kind: 'wait_ended' }
  /** the client stands at its own prompt: a turn that was open has ended without a report */
  | { readonly kind: 'at_prompt' }
  | { readonly kind: 'subagent_started'; readonly id: string; readonly type: string | null }
  | { readonly kind: 'subagent_ended'; readonly id: string }
  | { readonly kind: 'phase_changed'; readonly phase: string }
  /** the model has begun or gone on to answer */
  | { readonly kind: 'model_answers' }
  /** what the client counts replaces what was known */
  | { readonly kind: 'usage_counted'; readonly usage: Usage }
  | { readonly kind: 'answer_counted'; readonly answer: AnswerUsage }
  /** the same from a source that a client may report beside its own count; it replaces what was known, unless that is the client's own */
  | { readonly kind: 'usage_metered'; readonly usage: Usage }
  /** a limit refused a request, which the client repeats by itself; `retryAt` in epoch milliseconds, null: unknown */
  | { readonly kind: 'request_limited'; readonly retryAt: number | null };

/** What a file of a session shows in case a hook is lost. A reader of the file alone reports calls and turns itself. */
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

/** A call has ended whose id is known. */
export const callEnded = (call: ToolCall): SessionFact => ({ kind: 'call_ended', call, name: nameOf(call) });
