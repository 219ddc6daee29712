// Generated from packages/adapters/src/codex/stream.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import {                                callName, endedCall, startedCall, withEnd } from '../shared/calls.mjs';
import { closed,                 opened } from '../shared/open-calls.mjs';
import { ownOf } from '../shared/own.mjs';
import { at,              isFields, listAt, numberAt, parseLine, textAt } from '../shared/payload.mjs';
import { turnFailed } from './failure.mjs';
import { codexCall } from './tools.mjs';
import { codexUsage } from './usage.mjs';
/** The call in an item; null: the item is none. */
const callOf = (item        )                    => {
  const id = textAt(item, 'id');
  switch (textAt(item, 'type')) {
    case 'command_execution':
      return codexCall(id, 'Bash', { command: textAt(item, 'command') });
    case 'file_change': {
      const changes = listAt(item, 'changes').map((change) => ({
        path: textAt(change, 'path'),
        kind: textAt(change, 'kind'),
      }));
      return codexCall(id, 'apply_patch', { file_path: changes[0]?.path, changes });
    }
    case 'mcp_tool_call':
      return codexCall(id, `mcp__${textAt(item, 'server')}__${textAt(item, 'tool')}`, at(item, 'arguments'));
    case 'web_search':
      return codexCall(id, 'web_search', { query: at(item, 'query') });
    case 'collab_tool_call':
      return codexCall(id, textAt(item, 'tool'), { prompt: at(item, 'prompt') });
    default:
      return null;
  }
};
const endOf = (item        )          => {
  const result = at(item, 'aggregated_output') ?? at(item, 'result');
  const exitCode = numberAt(item, 'exit_code');
  if (exitCode !== null && exitCode !== 0) return { outcome: 'error', result, errorClass: `exit_${exitCode}` };
  if (textAt(item, 'status') === 'declined') return { outcome: 'refused', result };
  return textAt(item, 'status') === 'failed'
    ? { outcome: 'error', result, errorClass: 'tool_error' }
    : { outcome: 'ok', result };
};
const ANSWERS                             = new Set(['agent_message', 'reasoning', 'todo_list']);
const itemStep = (state             , item        , isOver         , now        )       => {
  if (ANSWERS.has(textAt(item, 'type'))) return { state, facts: [{ kind: 'model_answers' }] };
  const call = callOf(item);
  if (call === null) return { state, facts: [] };
  if (!isOver) {
    const started = startedCall(call, now);
    const fact = { kind: 'call_started', call: started, batch: null, asks: null }         ;
    return { state: { calls: opened(state.calls, started) }, facts: [fact] };
  }
  const known = ownOf(state.calls, call.callId ?? '');
  const ended = known === undefined ? endedCall(call, endOf(item), now, null) : withEnd(known, endOf(item), now);
  const facts = [{ kind: 'call_ended', call: ended, name: callName(call) }]         ;
  return { state: { calls: closed(state.calls, ended.call_id) }, facts };
};
/** Codex repeats a request by itself, and says so. */
const retried = (message               )                         =>
  message?.startsWith('Reconnecting') && /\b(?:429|503|529)\b/.test(message)
    ? [{ kind: 'request_limited', retryAt: null }]
    : [];
const stepOf = (state             , entry        , zone              , now        )       => {
  const item = at(entry, 'item');
  switch (textAt(entry, 'type')) {
    case 'thread.started':
      return { state, facts: [{ kind: 'session_started', source: 'start' }] };
    case 'turn.started':
      return { state, facts: [{ kind: 'turn_started' }] };
    case 'item.started':
    case 'item.completed':
      return isFields(item)
        ? itemStep(state, item, textAt(entry, 'type') === 'item.completed', now)
        : { state, facts: [] };
    case 'turn.completed': {
      const usage = { usage: [codexUsage(at(entry, 'usage'), null)], context: null, costUsd: null };
      return {
        state,
        facts: [
          { kind: 'usage_counted', usage },
          { kind: 'turn_ended', wakes: false },
        ],
      };
    }
    case 'turn.failed':
      return { state, facts: [turnFailed(at(entry, 'error'), now, { zone, limitedUntil: null })] };
    case 'error':
      return { state, facts: retried(textAt(entry, 'message')) };
    default:
      return { state, facts: [] };
  }
};
/** `codex exec --json`: its lines carry no times. `zone`: the name of the machine's time zone */
export const codexStream = (zone              )                            => ({
  initial: { calls: {} },
  read: (state, line, now) => {
    const entry = parseLine(line);
    if (entry === null) return { state, events: [], sessionId: null };
    const step = stepOf(state, entry, zone, now);
    const events = step.facts.map((fact)               => ({ ...fact, at: now, agent: null }));
    return { state: step.state, events, sessionId: textAt(entry, 'thread_id') };
  },
});
