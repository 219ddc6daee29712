import type { LineRead, SessionFileReader } from '../adapter.ts';
import { eventsAt, isSeen, type SessionEvent, type SessionFact } from '../session/events.ts';
import { type OpenCalls, waiting } from '../shared/calls.ts';
import { at, type Fields, instantAt, listAt, ownOf, parseLine, textAt } from '../shared/payload.ts';
import type { Step } from '../shared/stream.ts';
import { turnFailed } from './failure.ts';
import { callsIn, endsIn } from './messages.ts';
import { type ClaudeTranscript, claudeTranscript } from './transcript.ts';

/** The reader's state for a file. The counts are by agent; '' is the session's own. */
export type ClaudeSessionFile = {
  readonly calls: OpenCalls;
  readonly counts: Readonly<Record<string, ClaudeTranscript>>;
  readonly subagents: readonly string[];
};

/** Stop reasons after which the model expects no more results of tools. */
const LAST: ReadonlySet<string | null> = new Set(['end_turn', 'stop_sequence', 'max_tokens', 'refusal']);

const textsOf = (message: unknown): readonly string[] => {
  const content = at(message, 'content');
  return typeof content === 'string' ? [content] : listAt(content).flatMap((part) => textAt(part, 'text') ?? []);
};

const assistant = (state: ClaudeSessionFile, entry: Fields, when: number): Step<ClaudeSessionFile> => {
  const message = at(entry, 'message');
  const error = textAt(entry, 'error') ?? (at(entry, 'isApiErrorMessage') === true ? 'unknown' : null);
  if (error !== null) return { state, facts: [turnFailed(error, textsOf(message).join(' '), when)] };
  const { calls, facts } = callsIn(state.calls, message, when);
  const isLast = LAST.has(textAt(message, 'stop_reason'));
  const ended: readonly SessionFact[] = isLast ? [{ kind: 'turn_ended', wakes: false }] : [];
  return { state: { ...state, calls }, facts: [{ kind: 'model_answers' }, ...facts, ...ended] };
};

/** Commands that the client itself answers, and its reports about them. */
const COMMAND = /^\s*(?:<command-|<local-command-|<bash-|Caveat: )/;

/** Whether the entry is a prompt of a person or of a background task. */
const isPrompt = (entry: Fields): boolean => {
  if (at(entry, 'isMeta') === true || at(entry, 'isCompactSummary') === true) return false;
  const texts = textsOf(at(entry, 'message'));
  return (
    texts.length > 0 && !texts.some((text) => COMMAND.test(text) || text.startsWith('[Request interrupted by user'))
  );
};

const user = (state: ClaudeSessionFile, entry: Fields, when: number): Step<ClaudeSessionFile> => {
  const isDenied = () => /^(?:reject|deny)/.test(textAt(entry, 'permissionDecision', 'decision') ?? '');
  const about = { whole: at(entry, 'toolUseResult'), isDenied };
  const { calls, facts } = endsIn(state.calls, at(entry, 'message'), about, when);
  const prompt: readonly SessionFact[] = facts.length === 0 && isPrompt(entry) ? [{ kind: 'turn_started' }] : [];
  return { state: { ...state, calls }, facts: [...facts, ...prompt] };
};

const stepOf = (state: ClaudeSessionFile, entry: Fields, when: number): Step<ClaudeSessionFile> => {
  switch (textAt(entry, 'type')) {
    case 'assistant':
      return assistant(state, entry, when);
    case 'user':
      return user(state, entry, when);
    default:
      return { state, facts: [] };
  }
};

/** The file does not record the time of a permission request, so such a call counts as waiting from its start. */
const waitsOf = (
  before: OpenCalls,
  { facts }: Step<ClaudeSessionFile>,
  entry: Fields,
  agent: string | null,
): readonly SessionEvent[] => {
  if (textAt(entry, 'permissionDecision', 'source')?.startsWith('user_') !== true) return [];
  return facts.flatMap((fact): SessionEvent[] => {
    const since = fact.kind === 'call_ended' ? (before[fact.call.call_id]?.call.started_at ?? null) : null;
    if (fact.kind !== 'call_ended' || since === null) return [];
    const asked = waiting('permission', fact.call.tool, since);
    return [{ kind: 'wait_started', waiting: asked, call: fact.name, at: since, agent }];
  });
};

/** Updates the counts of the line's agent. */
const countedIn = (state: ClaudeSessionFile, line: string, agent: string) => {
  const read = claudeTranscript.read(ownOf(state.counts, agent) ?? claudeTranscript.initial, line);
  return {
    state: { ...state, counts: { ...state.counts, [agent]: read.state } },
    events: read.events.filter((event) => !isSeen(event)),
  };
};

type Read = LineRead<ClaudeSessionFile>;

const ofSession = (before: ClaudeSessionFile, line: string, entry: Fields, when: number): Read => {
  const { state: counted, events } = countedIn(before, line, '');
  const step = stepOf(counted, entry, when);
  return {
    state: step.state,
    events: [...events, ...waitsOf(before.calls, step, entry, null), ...eventsAt(when, null, step.facts)],
  };
};

/** A sub-agent begins with its first answer, which names its type, and ends with its last one. */
const ofSubagent = (before: ClaudeSessionFile, line: string, entry: Fields, when: number, id: string): Read => {
  const isKnown = before.subagents.includes(id);
  if (!isKnown && textAt(entry, 'type') !== 'assistant') return { state: before, events: [] };
  const { state: counted, events } = countedIn(before, line, id);
  const step = stepOf(counted, entry, when);
  const type = textAt(entry, 'attributionAgent');
  const start: readonly SessionEvent[] = isKnown ? [] : [{ kind: 'subagent_started', id, type, at: when, agent: null }];
  const own = step.facts.filter(({ kind }) => kind !== 'turn_started' && kind !== 'turn_ended');
  const isOver = step.facts.some(({ kind }) => kind === 'turn_ended');
  const end: readonly SessionEvent[] = isOver ? [{ kind: 'subagent_ended', id, at: when, agent: null }] : [];
  return {
    state: isKnown ? step.state : { ...step.state, subagents: [...before.subagents, id] },
    events: [...start, ...events, ...waitsOf(before.calls, step, entry, id), ...eventsAt(when, id, own), ...end],
  };
};

const readEntry = (state: ClaudeSessionFile, line: string, entry: Fields): Read => {
  const when = instantAt(entry, 'timestamp');
  if (when === null) return countedIn(state, line, '');
  if (at(entry, 'isSidechain') !== true) return ofSession(state, line, entry, when);
  const id = textAt(entry, 'agentId');
  // Older versions do not name the sub-agent of a line.
  return id === null ? { state, events: [] } : ofSubagent(state, line, entry, when, id);
};

/** ~/.claude/projects/PROJECT/SESSION.jsonl, and SESSION/subagents/agent-ID.jsonl beside it */
export const claudeSessionFile: SessionFileReader<ClaudeSessionFile> = {
  place: '~/.claude/projects/PROJECT/SESSION.jsonl',
  subagentsOf: (path) => (path.endsWith('.jsonl') ? `${path.slice(0, -'.jsonl'.length)}/subagents` : null),
  isOf: (entry) =>
    textAt(entry, 'type') !== null &&
    at(entry, 'payload') === undefined &&
    (textAt(entry, 'sessionId') ?? textAt(entry, 'leafUuid')) !== null,
  initial: { calls: {}, counts: {}, subagents: [] },
  read: (state, line) => {
    const entry = parseLine(line);
    if (entry === null) return { state, events: [], sessionId: null };
    return { ...readEntry(state, line, entry), sessionId: textAt(entry, 'sessionId') };
  },
};
