import type { CallKind, ToolCall, WaitingFor, WaitKind } from '@vigil/events';
import { argsHash, hashes, notEnded } from '@vigil/sdk/hashes';
import type { CallName, SessionFact } from '../session/events.ts';
import { answersOf } from './answers.ts';

/** The traits of a client's tool. */
export type ToolTraits = {
  /** whether an API outside this machine answers it */
  readonly kind: CallKind;
  /** whether its success is progress by itself */
  readonly mutating: boolean;
  /** whether its purpose is polling */
  readonly polling: boolean;
  /** whether it checks the work: a test, a build, a lint or a type check */
  readonly checking: boolean;
  /** the file that it reads or edits; null if none or unknown */
  readonly target: string | null;
  /**
   * the limit that its arguments set, milliseconds; null: none. A client's default is an estimate, so it does not
   * count
   */
  readonly limitMs: number | null;
};

type CallEnded = Extract<SessionFact, { kind: 'call_ended' }>;

/** A call of a client. `callId`: null if the client gives none; then the id is made of tool, arguments and time. */
export type ClientCall = {
  readonly callId: string | null;
  readonly tool: string;
  readonly args: unknown;
  readonly traits: ToolTraits;
};

export type CallEnd =
  | { readonly outcome: 'ok' | 'refused' | 'abandoned'; readonly result: unknown }
  | { readonly outcome: 'error'; readonly result: unknown; readonly errorClass: string };

/** `errorClass` null: the call succeeded. */
export const endWith = (result: unknown, errorClass: string | null): CallEnd =>
  errorClass === null ? { outcome: 'ok', result } : { outcome: 'error', result, errorClass };

/** The class of a command's exit code; null if unknown. */
export const exitClass = (exitCode: number | null): string | null =>
  exitCode === null || exitCode === 0 ? null : `exit_${exitCode}`;

/** Describes the calls of a client. */
export const callsBy =
  (traitsOf: (tool: string, args: unknown) => ToolTraits) =>
  (callId: string | null, tool: string | null, args: unknown): ClientCall => {
    const name = tool ?? 'unknown';
    return { callId, tool: name, args, traits: traitsOf(name, args) };
  };

const LONGEST_NAME = 512;
const LONGEST_TARGET = 4096;
const LONGEST_CLASS = 200;
const LONGEST_QUESTION = 500;

/** The largest limit of a call. A limit above a week is a mistake, and clients have limits of their own. */
const LONGEST_LIMIT_MS = 7 * 86_400_000;

const short = (text: string, length: number): string => text.slice(0, length);

/** The length of an error's text that names the error; the rest is output. */
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
    ...notEnded,
    started_at: null,
    deadline_at: null,
    mutating: call.traits.mutating,
    polling: call.traits.polling,
    checking: call.traits.checking,
    target: call.traits.target === null ? null : short(call.traits.target, LONGEST_TARGET),
  };
};

/** A starting call. It contains only hashes and a path, never the content. */
export const startedCall = (call: ClientCall, at: number): ToolCall => {
  const { limitMs } = call.traits;
  return {
    ...callOf(call, at),
    started_at: at,
    deadline_at: limitMs === null || limitMs > LONGEST_LIMIT_MS ? null : at + limitMs,
  };
};

const withEnd = (call: ToolCall, end: CallEnd, at: number): ToolCall => {
  const failed = end.outcome === 'error';
  const { result_hash, masked_result_hash } = hashes({ result: end.result, failed, endedAt: at });
  return {
    ...call,
    result_hash,
    masked_result_hash,
    outcome: end.outcome,
    error_class: end.outcome === 'error' ? short(end.errorClass, LONGEST_CLASS) : null,
    ended_at: at,
  };
};

/** The error classes that are answers of a call. A check that fails or is cut off by `timeout` has failed. */
export const wantedClasses = ({ args, traits }: ClientCall): readonly string[] =>
  traits.checking ? [] : answersOf(args);

const answered = (wanted: readonly string[], end: CallEnd): CallEnd =>
  end.outcome === 'error' && wanted.includes(end.errorClass) ? { outcome: 'ok', result: end.result } : end;

/** An ended call. `tookMs`: null if unknown. */
export const endedCall = (call: ClientCall, end: CallEnd, at: number, tookMs: number | null): ToolCall => {
  const started_at = tookMs !== null && tookMs >= 0 && tookMs < at ? Math.round(at - tookMs) : null;
  return withEnd({ ...callOf(call, at), started_at }, answered(wantedClasses(call), end), at);
};

/** The end of a client's call. `tookMs`: null if unknown. */
export const endOfCall = (call: ClientCall, end: CallEnd, at: number, tookMs: number | null): CallEnded => ({
  kind: 'call_ended',
  call: endedCall(call, end, at, tookMs),
  name: callName(call),
});

/** A question to a person. */
export const waiting = (kind: WaitKind, text: string | null, since: number): WaitingFor => ({
  kind,
  text: text === null ? null : short(text, LONGEST_QUESTION),
  since,
});

/** `call`: null if the question names none. */
export const waitStarted = (
  kind: WaitKind,
  text: string | null,
  since: number,
  call: CallName | null,
): SessionFact => ({
  kind: 'wait_started',
  waiting: waiting(kind, text, since),
  call,
});

/** A started call, and the error classes that are answers of its command. */
export type OpenedCall = { readonly call: ToolCall; readonly wanted: readonly string[] };

/** The started calls of a stream, by id, because their ends do not repeat tool and arguments. */
export type OpenCalls = Readonly<Record<string, OpenedCall>>;

const MOST = 200;

export const openedCall = (call: ClientCall, at: number): OpenedCall => ({
  call: startedCall(call, at),
  wanted: wantedClasses(call),
});

export const opened = (calls: OpenCalls, one: OpenedCall): OpenCalls =>
  Object.fromEntries([...Object.entries(calls), [one.call.call_id, one]].slice(-MOST));

/** The end of an opened call. An undefined result is unknown. */
export const endOfOpened = ({ call, wanted }: OpenedCall, end: CallEnd, at: number): ToolCall =>
  withEnd(call, answered(wanted, end), at);

export const closed = (calls: OpenCalls, id: string): OpenCalls => {
  const { [id]: _, ...others } = calls;
  return others;
};
