import type { ToolCall } from '@vigil/events';
import { type KnownCallKind, kind, LONGEST, text } from '../report/fields.ts';
import type { Ended } from './breakers.ts';
import { errorClass, meaningOf } from './error-class.ts';
import { argsHash, maskedResultHash, notEnded, resultHash } from './hashes.ts';

/** A call as its caller describes it. */
export type Call<T = unknown> = {
  /** the tool's or the model's name */
  readonly tool: string;
  /** the arguments: only their hash leaves the process. Without them no repetition is detected */
  readonly args?: unknown;
  /** default: tool */
  readonly kind?: KnownCallKind | undefined;
  /** expected duration, milliseconds: reported, not enforced */
  readonly deadlineMs?: number | undefined;
  /** it changes something outside the agent, so its success is progress */
  readonly mutating?: boolean | undefined;
  /** it polls for something, so that a repetition is not a loop */
  readonly polling?: boolean | undefined;
  /** it checks the work: a test, a build, a lint or a type check */
  readonly checking?: boolean | undefined;
  /** the file, address or other object that it is about */
  readonly target?: string | undefined;
  /** for tools that return their errors: the class of the error in a result, or null if it is not an error */
  readonly errorIn?: ((result: T) => string | null) | undefined;
};

/** How a call ended: with a result, or with an error that was thrown. */
export type End<T> = { readonly result: T } | { readonly error: unknown };

const kindOf = (call: Call<never>): KnownCallKind => kind(call.kind) ?? 'tool';

/** What every wrapped call needs: unique ids, a clock, admission and a recorder. */
export type Calling = {
  readonly now: () => number;
  readonly nextId: () => string;
  /** Throws BreakerOpen. */
  readonly admit: (kind: KnownCallKind) => Ended;
  readonly record: (call: ToolCall) => void;
};

/** Called once, with the call's end. */
export type Begun<T> = (end: End<T>) => void;

const running = (call: Call<never>, id: string, now: number): ToolCall => {
  const { deadlineMs } = call;
  const declared = typeof deadlineMs === 'number' && deadlineMs >= 0 && now + deadlineMs <= 8.64e15;
  return {
    call_id: id,
    kind: kindOf(call),
    tool: text(call.tool, LONGEST.name) ?? 'unnamed',
    args_hash: argsHash(call.args),
    ...notEnded,
    started_at: now,
    deadline_at: declared ? Math.round(now + deadlineMs) : null,
    mutating: call.mutating === true,
    polling: call.polling === true,
    checking: call.checking === true,
    target: text(call.target, LONGEST.text),
  };
};

const ended = (call: ToolCall, now: number, classOfError: string | null, content: unknown): ToolCall => ({
  ...call,
  outcome: classOfError === null ? 'ok' : 'error',
  error_class: text(classOfError, LONGEST.short),
  ended_at: now,
  result_hash: resultHash(content, classOfError !== null, now),
  masked_result_hash: maskedResultHash(content),
});

/** The content of an error is its name and message: its other fields (requests, sockets) differ each time. */
const contentOf = <T>(end: End<T>): unknown => {
  if ('result' in end) return end.result;
  const { error } = end;
  return error instanceof Error ? { name: error.name, message: error.message } : error;
};

/** Starts a call. Throws BreakerOpen, and nothing else that its caller has not caused. */
export const begin = <T>(call: Call<T>, { now, nextId, admit, record }: Calling): Begun<T> => {
  const breakerEnds = admit(kindOf(call));
  const started = running(call, nextId(), now());
  record(started);
  return (end) => {
    let classOfError = 'error' in end ? errorClass(end.error) : null;
    try {
      if ('result' in end) classOfError = call.errorIn?.(end.result) ?? null;
    } finally {
      breakerEnds(classOfError === null ? 'success' : meaningOf(classOfError));
      record(ended(started, now(), classOfError, contentOf(end)));
    }
  };
};
