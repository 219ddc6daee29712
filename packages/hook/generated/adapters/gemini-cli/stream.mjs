// Generated from packages/adapters/src/gemini-cli/stream.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import {               startedCall, withEnd } from '../shared/calls.mjs';
import { closed,                 opened } from '../shared/open-calls.mjs';
import { ownOf } from '../shared/own.mjs';
import { at, countAt,              instantAt, isFields, parseLine, textAt } from '../shared/payload.mjs';
import { turnFailed } from './failure.mjs';
import { geminiCall, isShell } from './tools.mjs';
const toolUse = (state              , entry        , when        )       => {
  const call = geminiCall(textAt(entry, 'tool_id'), textAt(entry, 'tool_name'), at(entry, 'parameters'));
  const started = startedCall(call, when);
  const fact = { kind: 'call_started', call: started, batch: null, asks: null }         ;
  return { state: { calls: opened(state.calls, started) }, facts: [fact] };
};
/** Some tools print nothing here, and no command its exit code: whether it succeeded is not known. */
const endOf = (entry        , tool        )          => {
  const output = textAt(entry, 'output') ?? undefined;
  const failed = textAt(entry, 'status') === 'error';
  const result = output ?? textAt(entry, 'error', 'message') ?? undefined;
  if (!failed) return { outcome: isShell(tool) ? 'abandoned' : 'ok', result };
  return { outcome: 'error', result, errorClass: textAt(entry, 'error', 'type') ?? 'tool_error' };
};
const toolResult = (state              , entry        , when        )       => {
  const id = textAt(entry, 'tool_id') ?? '';
  const call = ownOf(state.calls, id);
  if (call === undefined) return { state, facts: [] };
  const ended = withEnd(call, endOf(entry, call.tool), when);
  const name = { callId: ended.call_id, tool: ended.tool, argsHash: ended.args_hash };
  return { state: { calls: closed(state.calls, id) }, facts: [{ kind: 'call_ended', call: ended, name }] };
};
const summed = (stats         )              => {
  const models = Object.entries(isFields(at(stats, 'models')) ? (at(stats, 'models')          ) : {});
  const usage = models.map(([model, sums]) => ({
    model,
    input_tokens: Math.max(0, countAt(sums, 'input_tokens') - countAt(sums, 'cached')),
    cache_read_tokens: countAt(sums, 'cached'),
    cache_write_tokens: 0,
    output_tokens: countAt(sums, 'output_tokens'),
  }));
  return { kind: 'usage_counted', usage: { usage, context: null, costUsd: null } };
};
const result = (entry        , when        )                         => {
  const counted = summed(at(entry, 'stats'));
  if (textAt(entry, 'status') !== 'error') return [counted, { kind: 'turn_ended', wakes: false }];
  const message = textAt(entry, 'error', 'message') ?? '';
  return [counted, turnFailed(textAt(entry, 'error', 'type') ?? 'error', message, when)];
};
const stepOf = (state              , entry        , when        )       => {
  switch (textAt(entry, 'type')) {
    case 'init':
      return { state, facts: [{ kind: 'session_started', source: 'start' }] };
    case 'message':
      return { state, facts: [{ kind: textAt(entry, 'role') === 'user' ? 'turn_started' : 'model_answers' }] };
    case 'tool_use':
      return toolUse(state, entry, when);
    case 'tool_result':
      return toolResult(state, entry, when);
    case 'result':
      return { state, facts: result(entry, when) };
    default:
      return { state, facts: [] };
  }
};
/** `gemini -p --output-format stream-json` */
export const geminiStream                             = {
  initial: { calls: {} },
  read: (state, line, now) => {
    const entry = parseLine(line);
    if (entry === null) return { state, events: [], sessionId: null };
    const when = instantAt(entry, 'timestamp') ?? now;
    const step = stepOf(state, entry, when);
    const events = step.facts.map((fact)               => ({ ...fact, at: when, agent: null }));
    return { state: step.state, events, sessionId: textAt(entry, 'session_id') };
  },
};
