import type { TokenUsage } from '@vigil/events';
import type { StreamReader } from '../adapter.ts';
import { eventsAt, type SessionFact } from '../session/events.ts';
import type { OpenCalls } from '../shared/calls.ts';
import { type Counts, counted, noCounts, tokensIn, totals } from '../shared/counts.ts';
import { isLimit } from '../shared/failure.ts';
import { at, type Fields, instantAt, listAt, numberAt, ownOf, parseLine, textAt } from '../shared/payload.ts';
import type { Step } from '../shared/stream.ts';
import { turnFailed } from './failure.ts';
import { callsIn, endsIn } from './messages.ts';
import { usageIn, usageOf } from './transcript.ts';

/** The reader's state for a stream. The counts are by agent; '' is the session's own. */
export type ClaudeStream = {
  readonly calls: OpenCalls;
  readonly counts: Readonly<Record<string, Counts>>;
  /** the counts of the session's own agent in ended turns */
  readonly ended: readonly TokenUsage[];
  readonly subagents: readonly string[];
  /** calls with working sub-agents that have no id but the call's */
  readonly namedByCall: readonly string[];
  readonly tasks: number;
  readonly started: boolean;
  /** whether the error that ended the turn is reported */
  readonly failed: boolean;
  /** the time of the last line. Some lines have no time, and a time can be older than the reading of an earlier line */
  readonly at: number;
};

/** The number of sub-agents that are stored by their calls. */
const MOST_NAMED = 100;

/** The id of a sub-agent; in older versions, the id of the call that started it. */
const agentOf = (entry: Fields): string | null => textAt(entry, 'agent_id') ?? textAt(entry, 'parent_tool_use_id');

const assistant = (state: ClaudeStream, entry: Fields, when: number): Step<ClaudeStream> => {
  const message = at(entry, 'message');
  const error = textAt(entry, 'error');
  const content = listAt(message, 'content');
  if (error !== null) {
    const text = content.map((part) => textAt(part, 'text') ?? '').join(' ');
    return { state: { ...state, failed: true }, facts: [turnFailed(error, text, when)] };
  }
  const usage = usageOf(message);
  const agent = agentOf(entry) ?? '';
  const counts = usage === null ? null : counted(ownOf(state.counts, agent) ?? noCounts, usage.id, usage.tokens);
  const after = counts === null ? state : { ...state, counts: { ...state.counts, [agent]: counts } };
  const facts: readonly SessionFact[] = [
    { kind: 'model_answers' },
    ...(counts === null
      ? []
      : [{ kind: 'usage_counted', usage: { usage: totals(counts), context: null, costUsd: null } } as const]),
  ];
  const { calls, facts: started } = callsIn(state.calls, message, when);
  return { state: { ...after, calls }, facts: [...facts, ...started] };
};

const isDenied = (entry: Fields, id: string): boolean =>
  listAt(entry, 'tool_result_meta').some(
    (meta) =>
      textAt(meta, 'id') === id && /^(?:reject|deny)/.test(textAt(meta, 'permission_decision', 'decision') ?? ''),
  );

const user = (state: ClaudeStream, entry: Fields, when: number): Step<ClaudeStream> => {
  const about = { whole: at(entry, 'tool_use_result'), isDenied: (id: string) => isDenied(entry, id) };
  const { calls, facts } = endsIn(state.calls, at(entry, 'message'), about, when);
  const { state: after, ended } = withoutEnded(state, facts, entry);
  return { state: { ...after, calls }, facts: [...facts, ...ended] };
};

/** The end of a call ends the sub-agent that it started, unless the sub-agent runs in the background. */
const withoutEnded = (state: ClaudeStream, facts: readonly SessionFact[], entry: Fields) => {
  if (textAt(entry, 'tool_use_result', 'status') === 'async_launched') return { state, ended: [] };
  const over = facts.flatMap((fact) => (fact.kind === 'call_ended' ? [fact.call.call_id] : []));
  const ended = over
    .filter((id) => state.namedByCall.includes(id))
    .map((id): SessionFact => ({ kind: 'subagent_ended', id }));
  return { state: { ...state, namedByCall: state.namedByCall.filter((id) => !over.includes(id)) }, ended };
};

/** Adds the sub-agent of this line if only its call names it. */
const withNamed = (state: ClaudeStream, entry: Fields): ClaudeStream => {
  const call = textAt(entry, 'parent_tool_use_id');
  if (call === null || textAt(entry, 'agent_id') !== null || state.namedByCall.includes(call)) return state;
  return { ...state, namedByCall: [...state.namedByCall, call].slice(-MOST_NAMED) };
};

const system = (state: ClaudeStream, entry: Fields, when: number): Step<ClaudeStream> => {
  const id = textAt(entry, 'task_id');
  switch (textAt(entry, 'subtype')) {
    case 'init': {
      const turn = { kind: 'turn_started' } as const;
      const facts = state.started ? [turn] : [{ kind: 'session_started', source: 'start' } as const, turn];
      return { state: { ...state, started: true }, facts };
    }
    case 'background_tasks_changed':
      return { state: { ...state, tasks: listAt(entry, 'tasks').length }, facts: [] };
    case 'task_started': {
      if (id === null || textAt(entry, 'task_type') !== 'local_agent') return { state, facts: [] };
      const fact = { kind: 'subagent_started', id, type: textAt(entry, 'subagent_type') } as const;
      return { state: { ...state, subagents: [...state.subagents, id] }, facts: [fact] };
    }
    case 'task_notification':
      if (id === null || !state.subagents.includes(id)) return { state, facts: [] };
      return { state, facts: [{ kind: 'subagent_ended', id }] };
    case 'api_retry': {
      const delay = numberAt(entry, 'retry_delay_ms');
      const retryAt = delay === null ? null : Math.round(when + delay);
      return { state, facts: isLimit(numberAt(entry, 'error_status')) ? [{ kind: 'request_limited', retryAt }] : [] };
    }
    default:
      return { state, facts: [] };
  }
};

/** Reports that the limit of an account was reached. */
const rateLimit = (entry: Fields): readonly SessionFact[] => {
  if (textAt(entry, 'rate_limit_info', 'status') !== 'rejected') return [];
  const resetsAt = numberAt(entry, 'rate_limit_info', 'resetsAt');
  return [{ kind: 'request_limited', retryAt: resetsAt === null ? null : resetsAt * 1000 }];
};

const windowOf = (entry: Fields, model: string | null): number | null =>
  model === null ? null : numberAt(entry, 'modelUsage', model, 'contextWindow');

/**
 * The end of a turn counts the tokens of the session's own agent in it. The earlier streamed pieces of an answer
 * count fewer: each has the count from its start.
 */
const summed = (state: ClaudeStream, entry: Fields): Step<ClaudeStream> => {
  const last = state.counts['']?.current?.tokens;
  const model = last?.model ?? state.ended.at(-1)?.model ?? null;
  const turn = { ...usageIn(at(entry, 'usage')), model };
  const ended = totals({ earlier: state.ended, current: { id: '', tokens: turn } });
  const max = windowOf(entry, model);
  const context = last === undefined || max === null ? null : { tokens_used: tokensIn(last), tokens_max: max };
  const hasAnswer = tokensIn(turn) > 0;
  const usage = { usage: hasAnswer ? ended : [], context, costUsd: numberAt(entry, 'total_cost_usd') };
  const counts = { ...state.counts, '': { earlier: hasAnswer ? ended : state.ended, current: null } };
  return {
    state: { ...state, counts, ended: hasAnswer ? ended : state.ended },
    facts: [{ kind: 'usage_counted', usage }],
  };
};

/** The end of a turn. Most errors were reported before it, by an assistant's message; a limit of turns or of money was not. */
const result = (before: ClaudeStream, entry: Fields, when: number): Step<ClaudeStream> => {
  const { state, facts } = summed({ ...before, failed: false }, entry);
  if (at(entry, 'is_error') !== true)
    return { state, facts: [...facts, { kind: 'turn_ended', wakes: state.tasks > 0 }] };
  if (before.failed) return { state, facts };
  const failed = turnFailed(textAt(entry, 'subtype') ?? 'error', textAt(entry, 'result') ?? '', when);
  return { state, facts: [...facts, failed] };
};

const stepOf = (state: ClaudeStream, entry: Fields, when: number): Step<ClaudeStream> => {
  switch (textAt(entry, 'type')) {
    case 'system':
      return system(state, entry, when);
    case 'assistant':
      return assistant(state, entry, when);
    case 'user':
      return user(state, entry, when);
    case 'rate_limit_event':
      return { state, facts: rateLimit(entry) };
    case 'result':
      return result(state, entry, when);
    default:
      return { state, facts: [] };
  }
};

const TYPES: ReadonlySet<string | null> = new Set(['system', 'assistant', 'user', 'result']);
const OF_MESSAGES: ReadonlySet<string | null> = new Set(['assistant', 'user']);

/** `claude -p --output-format stream-json --verbose` */
export const claudeStream: StreamReader<ClaudeStream> = {
  isOf: (entry) => TYPES.has(textAt(entry, 'type')) && textAt(entry, 'session_id') !== null,
  initial: {
    calls: {},
    counts: {},
    ended: [],
    subagents: [],
    namedByCall: [],
    tasks: 0,
    started: false,
    failed: false,
    at: 0,
  },
  read: (state, line, now) => {
    const entry = parseLine(line);
    if (entry === null) return { state, events: [], sessionId: null };
    const when = Math.max(state.at, instantAt(entry, 'timestamp') ?? now);
    // The state of an older supervisor has fewer fields.
    const step = stepOf(withNamed({ ...claudeStream.initial, ...state, at: when }, entry), entry, when);
    const agent = OF_MESSAGES.has(textAt(entry, 'type')) ? agentOf(entry) : null;
    return { state: step.state, events: eventsAt(when, agent, step.facts), sessionId: textAt(entry, 'session_id') };
  },
};
