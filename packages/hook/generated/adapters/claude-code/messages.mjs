// Generated from packages/adapters/src/claude-code/messages.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import {               startedCall, waiting, withEnd } from '../shared/calls.mjs';
import { closed,                 opened } from '../shared/open-calls.mjs';
import { ownOf } from '../shared/own.mjs';
import { at, isFields, listAt, textAt } from '../shared/payload.mjs';
import { isRefusal } from './results.mjs';
import { askedBy, claudeCall, errorClassOf } from './tools.mjs';
/** The open calls after a message of the Messages API, and what the message reports of calls. */
/** What stands beside the results in a message. */
const started = ({ calls, facts }       , part         , batch               , when        )        => {
  const call = claudeCall(textAt(part, 'id'), textAt(part, 'name'), at(part, 'input'));
  const begun = startedCall(call, when);
  const asked = askedBy(call.tool, call.args);
  const asks = asked === null ? null : waiting(asked.kind, asked.text, when);
  return { calls: opened(calls, begun), facts: [...facts, { kind: 'call_started', call: begun, batch, asks }] };
};
/** The calls that a message of the model begins. */
export const callsIn = (calls           , message         , when        )        =>
  listAt(message, 'content')
    .filter((part) => textAt(part, 'type') === 'tool_use')
    .reduce       ((so, part) => started(so, part, textAt(message, 'id'), when), { calls, facts: [] });
const textOf = (content         )         =>
  typeof content === 'string'
    ? content
    : (Array.isArray(content) ? content : []).map((part         ) => textAt(part, 'text') ?? '').join('\n');
const endOf = ({ whole, isDenied }              , part         , call          )          => {
  const text = textOf(at(part, 'content'));
  if (at(part, 'is_error') !== true) return { outcome: 'ok', result: isFields(whole) ? whole : at(part, 'content') };
  if (isDenied(call.call_id) || isRefusal(text)) return { outcome: 'refused', result: text };
  return { outcome: 'error', result: text, errorClass: errorClassOf(call.tool, text, false) };
};
const ended = ({ calls, facts }       , part         , about              , when        )        => {
  const id = textAt(part, 'tool_use_id') ?? '';
  const open = ownOf(calls, id);
  if (open === undefined) return { calls, facts };
  const call = withEnd(open, endOf(about, part, open), when);
  const name = { callId: call.call_id, tool: call.tool, argsHash: call.args_hash };
  return { calls: closed(calls, id), facts: [...facts, { kind: 'call_ended', call, name }] };
};
/** The calls that a message to the model ends. */
export const endsIn = (calls           , message         , about              , when        )        =>
  listAt(message, 'content')
    .filter((part) => textAt(part, 'type') === 'tool_result')
    .reduce       ((so, part) => ended(so, part, about, when), { calls, facts: [] });
