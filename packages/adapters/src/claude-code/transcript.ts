import type { ContextUse, TokenUsage } from '@vigil/events';
import type { LineRead, TranscriptReader } from '../adapter.ts';
import type { SessionEvent } from '../session/events.ts';
import { startedCall } from '../shared/calls.ts';
import { type Counts, counted, noCounts, tokensIn, totals } from '../shared/counts.ts';
import { isLimit } from '../shared/failure.ts';
import { at, countAt, type Fields, instantAt, listAt, numberAt, parseLine, textAt } from '../shared/payload.ts';
import { claudeCall, isRefusal, waitOf } from './tools.ts';

/** Counts with the field names of the Messages API. */
export const usageIn = (usage: unknown): Omit<TokenUsage, 'model'> => ({
  input_tokens: countAt(usage, 'input_tokens'),
  cache_read_tokens: countAt(usage, 'cache_read_input_tokens'),
  cache_write_tokens: countAt(usage, 'cache_creation_input_tokens'),
  output_tokens: countAt(usage, 'output_tokens'),
});

/** The tokens in a message of the Messages API; null: Claude Code wrote the message itself. */
export const usageOf = (message: unknown): { readonly id: string; readonly tokens: TokenUsage } | null => {
  const id = textAt(message, 'id');
  const model = textAt(message, 'model');
  if (id === null || model === '<synthetic>') return null;
  return { id, tokens: { model, ...usageIn(at(message, 'usage')) } };
};

/**
 * The largest context window that a model offers, in tokens, by Anthropic's page on context windows: a million from
 * generation 4.6 on, 200,000 before. Claude Code writes no window into its session file, and may use a smaller one.
 * Null for an unknown name.
 */
const windowOf = (model: string): number | null => {
  const name = /^claude-[a-z]+-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(model);
  if (name !== null) return Number(`${name[1]}.${name[2] ?? 0}`) >= 4.6 ? 1_000_000 : 200_000;
  return model.startsWith('claude-3') ? 200_000 : null;
};

/** The used part of the window after an answer: the whole request and the answer. Null if unknown. */
export const contextOf = (tokens: TokenUsage): ContextUse | null => {
  const max = tokens.model === null ? null : windowOf(tokens.model);
  return max === null ? null : { tokens_used: tokensIn(tokens), tokens_max: max };
};

/** `costBefore`: the cost of the session when it was resumed, US dollars; null if it was not resumed */
export type ClaudeTranscript = {
  readonly counts: Counts;
  readonly costUsd: number | null;
  readonly costBefore: number | null;
};

type Read = LineRead<ClaudeTranscript>;

const agentOf = (entry: Fields): string | null => (at(entry, 'isSidechain') === true ? textAt(entry, 'agentId') : null);

const usageEvent = (
  { counts, costUsd }: ClaudeTranscript,
  entry: Fields,
  tokens: TokenUsage,
  when: number,
): SessionEvent => ({
  kind: 'usage_counted',
  usage: { usage: totals(counts), context: contextOf(tokens), costUsd },
  at: when,
  agent: agentOf(entry),
});

/**
 * The calls in a piece of an answer, and its end. After an answer, a sub-agent is called again or reported as ended.
 */
const answered = (entry: Fields, when: number): readonly SessionEvent[] => {
  const message = at(entry, 'message');
  const agent = agentOf(entry);
  const calls = listAt(message, 'content').flatMap((part): SessionEvent[] => {
    if (textAt(part, 'type') !== 'tool_use' || textAt(part, 'id') === null) return [];
    const call = claudeCall(textAt(part, 'id'), textAt(part, 'name'), at(part, 'input'));
    const asks = waitOf(call, when);
    return [{ kind: 'call_seen', call: startedCall(call, when), batch: textAt(message, 'id'), asks, at: when, agent }];
  });
  if (textAt(message, 'stop_reason') !== 'end_turn') return calls;
  return [...calls, { kind: 'last_answer_seen', wakes: agent !== null, at: when, agent }];
};

const resultText = (part: unknown): string => {
  const content = at(part, 'content');
  return typeof content === 'string' ? content : (textAt(listAt(content)[0], 'text') ?? '');
};

const results = (entry: Fields, when: number): readonly SessionEvent[] =>
  listAt(entry, 'message', 'content').flatMap((part): SessionEvent[] => {
    const callId = textAt(part, 'tool_use_id');
    if (callId === null) return [];
    return [
      {
        kind: 'result_seen',
        callId,
        refused: isRefusal(resultText(part)),
        errorClass: null,
        at: when,
        agent: agentOf(entry),
      },
    ];
  });

/** Claude Code fires no hook when a person interrupts it; it writes this into the session. */
const isInterrupt = (entry: Fields): boolean => {
  const content = at(entry, 'message', 'content');
  const texts = typeof content === 'string' ? [content] : listAt(content).map((part) => textAt(part, 'text'));
  return texts.some((text) => text?.startsWith('[Request interrupted by user') === true);
};

const retried = (entry: Fields, when: number): readonly SessionEvent[] => {
  if (textAt(entry, 'subtype') !== 'api_error' || !isLimit(numberAt(entry, 'error', 'status'))) return [];
  const delay = numberAt(entry, 'retryInMs');
  const retryAt = delay === null ? null : Math.round(when + delay);
  return [{ kind: 'request_limited', retryAt, at: when, agent: agentOf(entry) }];
};

/** Claude Code continues the cost of a session that it resumes. */
const costSince = (entry: Fields, costBefore: number | null): number | null => {
  const total = numberAt(entry, 'totalCostUSD');
  if (total === null || at(entry, 'hasUnknownModelCost') === true) return null;
  return total >= (costBefore ?? 0) ? total - (costBefore ?? 0) : total;
};

/** The last line of a session, which has no time of its own. */
const costed = (before: ClaudeTranscript, entry: Fields): Read => {
  const costUsd = costSince(entry, before.costBefore);
  const state = { ...before, costUsd };
  const when = (numberAt(entry, 'startTime') ?? 0) + (numberAt(entry, 'totalDuration') ?? 0);
  const usage = { usage: totals(state.counts), context: null, costUsd };
  return { state, events: [{ kind: 'usage_counted', usage, at: when, agent: null }] };
};

const read = (state: ClaudeTranscript, line: string): Read => {
  const entry = parseLine(line);
  if (entry === null) return { state, events: [] };
  const when = instantAt(entry, 'timestamp');
  switch (textAt(entry, 'type')) {
    case 'assistant': {
      const usage = usageOf(at(entry, 'message'));
      if (usage === null || when === null) return { state, events: [] };
      const after = { ...state, counts: counted(state.counts, usage.id, usage.tokens) };
      return { state: after, events: [usageEvent(after, entry, usage.tokens, when), ...answered(entry, when)] };
    }
    case 'user': {
      if (when === null) return { state, events: [] };
      const interrupt: SessionEvent = { kind: 'turn_interrupted', at: when, agent: agentOf(entry) };
      return { state, events: [...results(entry, when), ...(isInterrupt(entry) ? [interrupt] : [])] };
    }
    case 'system':
      return { state, events: when === null ? [] : retried(entry, when) };
    case 'cost-state':
      return costed(state, entry);
    default:
      return { state, events: [] };
  }
};

/** ~/.claude/projects/PROJECT/SESSION.jsonl, and SESSION/subagents/agent-ID.jsonl beside it */
export const claudeTranscript: TranscriptReader<ClaudeTranscript> = {
  initial: { counts: noCounts, costUsd: null, costBefore: null },
  resumed: ({ costUsd }) => ({ counts: noCounts, costUsd: null, costBefore: costUsd }),
  read,
};
