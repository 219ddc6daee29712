import { callEnded, callStarted, type SessionFact } from '../session/events.ts';
import {
  type CallEnd,
  closed,
  endOfOpened,
  type OpenCalls,
  type OpenedCall,
  opened,
  openedCall,
} from '../shared/calls.ts';
import { at, isFields, listAt, ownOf, textAt } from '../shared/payload.ts';
import { claudeCall, errorClassOf, isRefusal, waitOf } from './tools.ts';

/** The open calls after a message of the Messages API, and the message's facts about calls. */
type Calls = { readonly calls: OpenCalls; readonly facts: readonly SessionFact[] };

/** The context of a message's results. */
type AboutResults = {
  /** the tool's own result; undefined if the message has only the part for the model */
  readonly whole: unknown;
  /** whether a permission rule refused the call with that id */
  readonly isDenied: (id: string) => boolean;
};

const started = ({ calls, facts }: Calls, part: unknown, batch: string | null, when: number): Calls => {
  const call = claudeCall(textAt(part, 'id'), textAt(part, 'name'), at(part, 'input'));
  const begun = openedCall(call, when);
  return { calls: opened(calls, begun), facts: [...facts, callStarted(begun.call, batch, waitOf(call, when))] };
};

/** The calls that a message of the model begins. */
export const callsIn = (calls: OpenCalls, message: unknown, when: number): Calls =>
  listAt(message, 'content')
    .filter((part) => textAt(part, 'type') === 'tool_use')
    .reduce<Calls>((so, part) => started(so, part, textAt(message, 'id'), when), { calls, facts: [] });

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : (Array.isArray(content) ? content : []).map((part: unknown) => textAt(part, 'text') ?? '').join('\n');

const endOf = ({ whole, isDenied }: AboutResults, part: unknown, { call }: OpenedCall): CallEnd => {
  const text = textOf(at(part, 'content'));
  if (at(part, 'is_error') !== true) return { outcome: 'ok', result: isFields(whole) ? whole : at(part, 'content') };
  if (isDenied(call.call_id) || isRefusal(text)) return { outcome: 'refused', result: text };
  return { outcome: 'error', result: text, errorClass: errorClassOf(call.tool, text, false) };
};

const ended = ({ calls, facts }: Calls, part: unknown, about: AboutResults, when: number): Calls => {
  const id = textAt(part, 'tool_use_id') ?? '';
  const open = ownOf(calls, id);
  if (open === undefined) return { calls, facts };
  const call = endOfOpened(open, endOf(about, part, open), when);
  return { calls: closed(calls, id), facts: [...facts, callEnded(call)] };
};

/** The calls that a message to the model ends. */
export const endsIn = (calls: OpenCalls, message: unknown, about: AboutResults, when: number): Calls =>
  listAt(message, 'content')
    .filter((part) => textAt(part, 'type') === 'tool_result')
    .reduce<Calls>((so, part) => ended(so, part, about, when), { calls, facts: [] });
