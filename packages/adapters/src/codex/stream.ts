import type { StreamReader } from '../adapter.ts';
import type { SessionFact } from '../session/events.ts';
import {
  type CallEnd,
  type ClientCall,
  callName,
  closed,
  endedCall,
  endOfOpened,
  endWith,
  exitClass,
  type OpenCalls,
} from '../shared/calls.ts';
import { at, type Fields, isFields, listAt, numberAt, ownOf, textAt } from '../shared/payload.ts';
import { beginCall, type Step, streamBy } from '../shared/stream.ts';
import { turnFailed } from './failure.ts';
import { codexCall } from './tools.ts';
import { codexUsage } from './transcript.ts';

type State = { readonly calls: OpenCalls };

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
  const errorClass = exitClass(numberAt(item, 'exit_code'));
  if (errorClass === null && textAt(item, 'status') === 'declined') return { outcome: 'refused', result };
  return endWith(result, errorClass ?? (textAt(item, 'status') === 'failed' ? 'tool_error' : null));
};

const ANSWERS: ReadonlySet<string | null> = new Set(['agent_message', 'reasoning', 'todo_list']);

const itemStep = (state: State, item: Fields, isOver: boolean, now: number): Step<State> => {
  if (ANSWERS.has(textAt(item, 'type'))) return { state, facts: [{ kind: 'model_answers' }] };
  const call = callOf(item);
  if (call === null) return { state, facts: [] };
  if (!isOver) return beginCall(state, call, now);
  const known = ownOf(state.calls, call.callId ?? '');
  const ended = known === undefined ? endedCall(call, endOf(item), now, null) : endOfOpened(known, endOf(item), now);
  const facts = [{ kind: 'call_ended', call: ended, name: callName(call) }] as const;
  return { state: { calls: closed(state.calls, ended.call_id) }, facts };
};

/** Codex retries a request by itself, and reports that. */
const retried = (message: string | null): readonly SessionFact[] =>
  message?.startsWith('Reconnecting') && /\b(?:429|503|529)\b/.test(message)
    ? [{ kind: 'request_limited', retryAt: null }]
    : [];

const stepOf = (state: State, entry: Fields, zone: () => string, now: number): Step<State> => {
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
export const codexStream = (zone: () => string): StreamReader<State> =>
  streamBy({ calls: {} }, { first: 'thread.started', idField: 'thread_id' }, (state, entry, when) =>
    stepOf(state, entry, zone, when),
  );
