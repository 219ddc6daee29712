import type { ToolCall } from '@vigil/events';
import type { Ended } from './breakers.ts';
import { errorClass, meaningOf } from './error-class.ts';
import { kind, LONGEST, type SaidKind, text } from './fields.ts';
import { argsHash, maskedResultHash, resultHash } from './hashes.ts';

/** A call as its caller names it. */
export type Call<T = unknown> = {
  /** the tool's or the model's name */
  readonly tool: string;
  /** what it is called with: only its hash leaves the process; left out: unknown, so no repetition is seen */
  readonly args?: unknown;
  /** default: tool */
  readonly kind?: SaidKind | undefined;
  /** how long it may take, milliseconds: told, not enforced */
  readonly deadlineMs?: number | undefined;
  /** it changes something outside, so its success is progress */
  readonly mutating?: boolean | undefined;
  /** it waits for something by asking again, so asking again is no loop */
  readonly polling?: boolean | undefined;
  /** the file, address or other object that it is about */
  readonly target?: string | undefined;
  /** for tools that return their errors: the class of the error in a result, or null where it is none */
  readonly errorIn?: ((result: T) => string | null) | undefined;
};

/** How a call ended: with a result, or with an error that was thrown. */
export type End<T> = { readonly result: T } | { readonly error: unknown };

const kindOf = (call: Call<never>): SaidKind => kind(call.kind) ?? 'tool';

/** What every wrapped call needs: ids of its own, clocks, and somebody to tell. */
export type Calling = {
  readonly now: () => number;
  readonly nextId: () => string;
  /** Throws BreakerOpen. */
  readonly admit: (kind: SaidKind) => Ended;
  readonly tell: (call: ToolCall) => void;
};

/** Told of its end once. */
export type Begun<T> = (end: End<T>) => void;

const running = (call: Call<never>, id: string, now: number): ToolCall => {
  const { deadlineMs } = call;
  const declared = typeof deadlineMs === 'number' && deadlineMs >= 0 && now + deadlineMs <= 8.64e15;
  return {
    call_id: id,
    kind: kindOf(call),
    tool: text(call.tool, LONGEST.name) ?? 'unnamed',
    args_hash: argsHash(call.args),
    result_hash: null,
    masked_result_hash: null,
    outcome: 'running',
    error_class: null,
    started_at: now,
    ended_at: null,
    deadline_at: declared ? Math.round(now + deadlineMs) : null,
    mutating: call.mutating === true,
    polling: call.polling === true,
    target: text(call.target, LONGEST.text),
  };
};

const ended = (call: ToolCall, now: number, classOfError: string | null, content: unknown): ToolCall => ({
  ...call,
  outcome: classOfError === null ? 'ok' : 'error',
  error_class: text(classOfError, LONGEST.short),
  ended_at: now,
  result_hash: resultHash(content),
  masked_result_hash: maskedResultHash(content),
});

/** Of an error its name and message are the content: what else hangs on it (requests, sockets) differs each time. */
const contentOf = <T>(end: End<T>): unknown => {
  if ('result' in end) return end.result;
  const { error } = end;
  return error instanceof Error ? { name: error.name, message: error.message } : error;
};

/** A call is under way. Throws BreakerOpen, and nothing else that its caller has not caused. */
export const begin = <T>(call: Call<T>, { now, nextId, admit, tell }: Calling): Begun<T> => {
  const breakerEnds = admit(kindOf(call));
  const told = running(call, nextId(), now());
  tell(told);
  return (end) => {
    let classOfError = 'error' in end ? errorClass(end.error) : null;
    try {
      if ('result' in end) classOfError = call.errorIn?.(end.result) ?? null;
    } finally {
      breakerEnds(classOfError === null ? 'success' : meaningOf(classOfError));
      tell(ended(told, now(), classOfError, contentOf(end)));
    }
  };
};
