import type { TokenUsage } from '@vigil/events';
import type { TranscriptReader } from '../adapter.ts';
import { eventsAt, type SessionFact } from '../session/events.ts';
import {
  type CallEnd,
  type ClientCall,
  endOfCall,
  endWith,
  exitClass,
  startedCall,
  wantedClasses,
} from '../shared/calls.ts';
import { combined } from '../shared/counts.ts';
import {
  at,
  countAt,
  type Fields,
  instantAt,
  isFields,
  numberAt,
  ownOf,
  parseLine,
  textAt,
} from '../shared/payload.ts';
import { limitedUntilIn, turnFailed } from './failure.ts';
import { codexCall, commandOf, endInFile } from './tools.ts';

/** Codex counts cached tokens among the input tokens. */
export const codexUsage = (counts: unknown, model: string | null): TokenUsage => {
  const cached = countAt(counts, 'cached_input_tokens');
  const written = countAt(counts, 'cache_write_input_tokens');
  return {
    model,
    input_tokens: Math.max(0, countAt(counts, 'input_tokens') - cached - written),
    cache_read_tokens: cached,
    cache_write_tokens: written,
    output_tokens: countAt(counts, 'output_tokens'),
  };
};

export type CodexTranscript = {
  /** of the turn */
  readonly model: string | null;
  /** when the account's used-up limits end; null if none is used up, or if that is unknown */
  readonly limitedUntil: number | null;
  /** the last total in the file; null without one */
  readonly total: TokenUsage | null;
  /** the part of the total that an earlier instance of the session used; null for none */
  readonly before: TokenUsage | null;
  /** the error classes that are answers of calls without a result yet, by the ids of the calls; absent: none */
  readonly wanted?: Wanted;
};
type Wanted = Readonly<Record<string, readonly string[]>>;

/** Codex continues the total of the session that it resumes. A total below it has started from zero. */
const usedSince = (total: TokenUsage, before: TokenUsage | null): TokenUsage => {
  if (before === null) return total;
  const rest = { model: total.model, ...combined(total, before, -1) };
  const isBelow = rest.output_tokens < 0 || rest.input_tokens + rest.cache_read_tokens + rest.cache_write_tokens < 0;
  return isBelow ? total : rest;
};

const usageFact = (usage: TokenUsage, info: unknown): SessionFact => {
  const [used, max] = [numberAt(info, 'last_token_usage', 'total_tokens'), numberAt(info, 'model_context_window')];
  const context = used === null || max === null ? null : { tokens_used: used, tokens_max: max };
  return { kind: 'usage_counted', usage: { usage: [usage], context, costUsd: null } };
};

/** The file has the exit code of a command before the hook reports its end. */
const commandEnded = (payload: Fields, item: Fields, when: number): readonly SessionFact[] => {
  const exitCode = numberAt(item, 'exit_code');
  if (textAt(item, 'type') !== 'CommandExecution' || exitCode === null) return [];
  const call = codexCall(textAt(item, 'id'), 'Bash', { command: commandOf(at(item, 'command')) });
  const ended = numberAt(payload, 'completed_at_ms') ?? when;
  const started = numberAt(payload, 'started_at_ms');
  const took = started === null ? null : ended - started;
  return [endOfCall(call, endWith(at(item, 'aggregated_output'), exitClass(exitCode)), ended, took)];
};

const argsOf = (item: Fields): unknown =>
  parseLine(textAt(item, 'arguments') ?? '') ?? { input: textAt(item, 'input') };

/** A call as the hooks name it. */
const callOf = (item: Fields): ClientCall => {
  const [name, args] = [textAt(item, 'name'), argsOf(item)];
  if (name !== 'exec_command') return codexCall(textAt(item, 'call_id'), name, args);
  return codexCall(textAt(item, 'call_id'), 'Bash', { command: textAt(args, 'cmd') });
};

const resultSeen = (callId: string, end: CallEnd, wanted: readonly string[]): SessionFact => ({
  kind: 'result_seen',
  callId,
  refused: end.outcome === 'refused',
  errorClass: end.outcome === 'error' && !wanted.includes(end.errorClass) ? end.errorClass : null,
});

const CALLS: ReadonlySet<string | null> = new Set(['function_call', 'custom_tool_call']);

/** The number of calls whose wanted exit codes are stored, more than a model starts at once. */
const MOST_WANTED = 100;

/** After an item. Few calls have such answers, and each has one result. */
const wantedAfter = (before: Wanted, item: Fields): Wanted => {
  const callId = textAt(item, 'call_id') ?? '';
  const { [callId]: known, ...others } = before;
  const classes = CALLS.has(textAt(item, 'type')) ? wantedClasses(callOf(item)) : [];
  if (classes.length === 0) return known === undefined ? before : others;
  return Object.fromEntries([...Object.entries(others), [callId, classes]].slice(-MOST_WANTED));
};

const itemFacts = (item: Fields, wanted: Wanted, when: number): readonly SessionFact[] => {
  const callId = textAt(item, 'call_id');
  if (callId === null) return [];
  switch (textAt(item, 'type')) {
    case 'function_call':
    case 'custom_tool_call':
      return [{ kind: 'call_seen', call: startedCall(callOf(item), when), batch: null, asks: null }];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [resultSeen(callId, endInFile(item), ownOf(wanted, callId) ?? [])];
    default:
      return [];
  }
};

const eventFacts = (
  payload: Fields,
  state: CodexTranscript,
  zone: () => string,
  when: number,
): readonly SessionFact[] => {
  switch (textAt(payload, 'type')) {
    case 'token_count':
      if (!isFields(at(payload, 'info', 'total_token_usage')) || state.total === null) return [];
      return [usageFact(usedSince(state.total, state.before), at(payload, 'info'))];
    case 'item_completed': {
      const item = at(payload, 'item');
      return isFields(item) ? commandEnded(payload, item, when) : [];
    }
    case 'turn_aborted':
      return [{ kind: 'turn_interrupted' }];
    case 'task_complete':
      return isFields(at(payload, 'error'))
        ? [turnFailed(at(payload, 'error'), when, { zone, limitedUntil: state.limitedUntil })]
        : [{ kind: 'last_answer_seen', wakes: false }];
    default:
      return [];
  }
};

const stateAfter = (state: CodexTranscript, type: string | null, payload: Fields, when: number): CodexTranscript => {
  if (type === 'response_item') return { ...state, wanted: wantedAfter(state.wanted ?? {}, payload) };
  if (type === 'turn_context') return { ...state, model: textAt(payload, 'model') ?? state.model };
  if (type !== 'event_msg' || textAt(payload, 'type') !== 'token_count') return state;
  const total = at(payload, 'info', 'total_token_usage');
  return {
    ...state,
    limitedUntil: limitedUntilIn(at(payload, 'rate_limits'), when, state.limitedUntil),
    total: isFields(total) ? codexUsage(total, state.model) : state.total,
  };
};

/** ~/.codex/sessions/YYYY/MM/DD/rollout-TIME-SESSION.jsonl. `zone`: the name of the machine's time zone */
export const codexTranscript = (zone: () => string): TranscriptReader<CodexTranscript> => ({
  initial: { model: null, limitedUntil: null, total: null, before: null },
  resumed: ({ model, total }) => ({ model, limitedUntil: null, total, before: total }),
  read: (state, line) => {
    const entry = parseLine(line);
    const payload = at(entry, 'payload');
    const when = instantAt(entry, 'timestamp');
    if (!isFields(payload) || when === null) return { state, events: [] };
    const type = textAt(entry, 'type');
    const after = stateAfter(state, type, payload, when);
    const facts = type === 'response_item' ? itemFacts(payload, state.wanted ?? {}, when) : [];
    const more = type === 'event_msg' ? eventFacts(payload, after, zone, when) : [];
    return { state: after, events: eventsAt(when, null, [...facts, ...more]) };
  },
});
