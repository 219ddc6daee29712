import type { StreamReader } from '../adapter.ts';
import type { SessionEvent, SessionFact } from '../session/events.ts';
import { type CallEnd, type ClientCall, callName, endedCall, startedCall, withEnd } from '../shared/calls.ts';
import { closed, type OpenCalls, opened } from '../shared/open-calls.ts';
import { ownOf } from '../shared/own.ts';
import { at, type Fields, isFields, listAt, numberAt, parseLine, textAt } from '../shared/payload.ts';
import { turnFailed } from './failure.ts';
import { codexCall } from './tools.ts';
import { codexUsage } from './transcript/usage.ts';

export type CodexStream = { readonly calls: OpenCalls };

type Step = { readonly state: CodexStream; readonly facts: readonly SessionFact[] };

/** The call in an item; null: the item is not a call. */
const callOf = (item: Fields): ClientCall | null => {
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

const endOf = (item: Fields): CallEnd => {
  const result = at(item, 'aggregated_output') ?? at(item, 'result');
  const exitCode = numberAt(item, 'exit_code');
  if (exitCode !== null && exitCode !== 0) return { outcome: 'error', result, errorClass: `exit_${exitCode}` };
  if (textAt(item, 'status') === 'declined') return { outcome: 'refused', result };
  return textAt(item, 'status') === 'failed'
    ? { outcome: 'error', result, errorClass: 'tool_error' }
    : { outcome: 'ok', result };
};

const ANSWERS: ReadonlySet<string | null> = new Set(['agent_message', 'reasoning', 'todo_list']);

const itemStep = (state: CodexStream, item: Fields, isOver: boolean, now: number): Step => {
  if (ANSWERS.has(textAt(item, 'type'))) return { state, facts: [{ kind: 'model_answers' }] };
  const call = callOf(item);
  if (call === null) return { state, facts: [] };
  if (!isOver) {
    const started = startedCall(call, now);
    const fact = { kind: 'call_started', call: started, batch: null, asks: null } as const;
    return { state: { calls: opened(state.calls, started) }, facts: [fact] };
  }
  const known = ownOf(state.calls, call.callId ?? '');
  const ended = known === undefined ? endedCall(call, endOf(item), now, null) : withEnd(known, endOf(item), now);
  const facts = [{ kind: 'call_ended', call: ended, name: callName(call) }] as const;
  return { state: { calls: closed(state.calls, ended.call_id) }, facts };
};

/** Codex repeats a request by itself, and reports that. */
const retried = (message: string | null): readonly SessionFact[] =>
  message?.startsWith('Reconnecting') && /\b(?:429|503|529)\b/.test(message)
    ? [{ kind: 'request_limited', retryAt: null }]
    : [];

const stepOf = (state: CodexStream, entry: Fields, zone: () => string, now: number): Step => {
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
export const codexStream = (zone: () => string): StreamReader<CodexStream> => ({
  initial: { calls: {} },
  read: (state, line, now) => {
    const entry = parseLine(line);
    if (entry === null) return { state, events: [], sessionId: null };
    const step = stepOf(state, entry, zone, now);
    const events = step.facts.map((fact): SessionEvent => ({ ...fact, at: now, agent: null }));
    return { state: step.state, events, sessionId: textAt(entry, 'thread_id') };
  },
});
