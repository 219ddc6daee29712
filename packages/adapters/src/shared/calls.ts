import type { CallKind, ToolCall, WaitingFor, WaitKind } from '@vigil/events';
import { argsHash, hashes } from '@vigil/sdk/hashes';
import type { CallName } from '../session/events.ts';

/** What a client's tool is to Vigil. */
export type ToolTraits = {
  /** an API outside of this machine answers it */
  readonly kind: CallKind;
  /** its success is progress by itself */
  readonly mutating: boolean;
  /** it exists to poll */
  readonly polling: boolean;
  /** the file that it is about; null: none, or unknown */
  readonly target: string | null;
  /**
   * the limit that its arguments set, milliseconds; null: none. A client's default is an estimate, so it does not
   * count
   */
  readonly limitMs: number | null;
};

/** A call as a client names it. `callId` null: the client gives none, and one is made of tool, arguments and time. */
export type ClientCall = {
  readonly callId: string | null;
  readonly tool: string;
  readonly args: unknown;
  readonly traits: ToolTraits;
};

export type CallEnd =
  | { readonly outcome: 'ok'; readonly result: unknown }
  | { readonly outcome: 'error'; readonly result: unknown; readonly errorClass: string }
  | { readonly outcome: 'refused' | 'abandoned'; readonly result: unknown };

const LONGEST_NAME = 512;
const LONGEST_TARGET = 4096;
const LONGEST_CLASS = 200;
const LONGEST_QUESTION = 500;

/** No call is allowed more than a week: a larger limit is a mistake, and clients have limits of their own. */
const LONGEST_LIMIT_MS = 7 * 86_400_000;

const short = (text: string, length: number): string => text.slice(0, length);

/** The part of an error's text that names the error; the rest is output. */
export const headOf = (text: string): string => text.slice(0, 400);

export const callName = ({ callId, tool, args }: ClientCall): CallName => ({
  callId: callId === null ? null : short(callId, LONGEST_NAME),
  tool: short(tool, LONGEST_NAME),
  argsHash: argsHash(args),
});

const callOf = (call: ClientCall, at: number): ToolCall => {
  const name = callName(call);
  return {
    call_id: name.callId ?? `${short(name.tool, 64)}-${name.argsHash}-${at}`,
    kind: call.traits.kind,
    tool: name.tool,
    args_hash: name.argsHash,
    result_hash: null,
    masked_result_hash: null,
    outcome: 'running',
    error_class: null,
    started_at: null,
    ended_at: null,
    deadline_at: null,
    mutating: call.traits.mutating,
    polling: call.traits.polling,
    target: call.traits.target === null ? null : short(call.traits.target, LONGEST_TARGET),
  };
};

/** A call that begins. Its content stays here: only hashes and a path leave. */
export const startedCall = (call: ClientCall, at: number): ToolCall => {
  const { limitMs } = call.traits;
  return {
    ...callOf(call, at),
    started_at: at,
    deadline_at: limitMs === null || limitMs > LONGEST_LIMIT_MS ? null : at + limitMs,
  };
};

/** The end of a call that was reported at its start. A result that is undefined is not known. */
export const withEnd = (call: ToolCall, end: CallEnd, at: number): ToolCall => {
  const { result_hash, masked_result_hash } = hashes({ result: end.result });
  return {
    ...call,
    result_hash,
    masked_result_hash,
    outcome: end.outcome,
    error_class: end.outcome === 'error' ? short(end.errorClass, LONGEST_CLASS) : null,
    ended_at: at,
  };
};

/** A call that has ended. `tookMs` null: unknown. */
export const endedCall = (call: ClientCall, end: CallEnd, at: number, tookMs: number | null): ToolCall => {
  const started_at = tookMs !== null && tookMs >= 0 && tookMs < at ? Math.round(at - tookMs) : null;
  return withEnd({ ...callOf(call, at), started_at }, end, at);
};

/** What a person is asked. */
export const waiting = (kind: WaitKind, text: string | null, since: number): WaitingFor => ({
  kind,
  text: text === null ? null : short(text, LONGEST_QUESTION),
  since,
});

const WAITING_COMMAND = /(?:^|[;&|(]\s*)(?:sleep|watch)\s/;

/** A shell command that waits is repeated on purpose. */
export const isWaitingCommand = (command: unknown): boolean =>
  typeof command === 'string' && WAITING_COMMAND.test(command);
