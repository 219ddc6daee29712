// Generated from packages/adapters/src/claude-code/session-file.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { isSeen,                                     } from '../session/events.mjs';
import { waiting } from '../shared/calls.mjs';
import { ownOf } from '../shared/own.mjs';
import { at,              instantAt, listAt, parseLine, textAt } from '../shared/payload.mjs';
import { turnFailed } from './failure.mjs';
import { callsIn, endsIn } from './messages.mjs';
import {                        claudeTranscript } from './transcript.mjs';
/** What is remembered of a file. The counts are by agent; '' is the session's own. */
/** With these the model expects nothing more from its tools. */
const LAST                             = new Set(['end_turn', 'stop_sequence', 'max_tokens', 'refusal']);
const textsOf = (message         )                    => {
  const content = at(message, 'content');
  return typeof content === 'string' ? [content] : listAt(content).flatMap((part) => textAt(part, 'text') ?? []);
};
const assistant = (state                   , entry        , when        )       => {
  const message = at(entry, 'message');
  const error = textAt(entry, 'error') ?? (at(entry, 'isApiErrorMessage') === true ? 'unknown' : null);
  if (error !== null) return { state, facts: [turnFailed(error, textsOf(message).join(' '), when)] };
  const { calls, facts } = callsIn(state.calls, message, when);
  const isLast = LAST.has(textAt(message, 'stop_reason'));
  const ended                         = isLast ? [{ kind: 'turn_ended', wakes: false }] : [];
  return { state: { ...state, calls }, facts: [{ kind: 'model_answers' }, ...facts, ...ended] };
};
/** Commands of the client itself, which no model answers, and what it says about them. */
const COMMAND = /^\s*(?:<command-|<local-command-|<bash-|Caveat: )/;
/** What a person, or a background task, asks of the model. */
const isPrompt = (entry        )          => {
  if (at(entry, 'isMeta') === true || at(entry, 'isCompactSummary') === true) return false;
  const texts = textsOf(at(entry, 'message'));
  return (
    texts.length > 0 && !texts.some((text) => COMMAND.test(text) || text.startsWith('[Request interrupted by user'))
  );
};
const user = (state                   , entry        , when        )       => {
  const isDenied = () => /^(?:reject|deny)/.test(textAt(entry, 'permissionDecision', 'decision') ?? '');
  const about = { whole: at(entry, 'toolUseResult'), isDenied };
  const { calls, facts } = endsIn(state.calls, at(entry, 'message'), about, when);
  const prompt                         = facts.length === 0 && isPrompt(entry) ? [{ kind: 'turn_started' }] : [];
  return { state: { ...state, calls }, facts: [...facts, ...prompt] };
};
const stepOf = (state                   , entry        , when        )       => {
  switch (textAt(entry, 'type')) {
    case 'assistant':
      return assistant(state, entry, when);
    case 'user':
      return user(state, entry, when);
    default:
      return { state, facts: [] };
  }
};
/** When a person was asked for a permission is not written: a call that one was asked for waited from its start. */
const waitsOf = (before           , { facts }      , entry        , agent               )                          => {
  if (textAt(entry, 'permissionDecision', 'source')?.startsWith('user_') !== true) return [];
  return facts.flatMap((fact)                 => {
    const since = fact.kind === 'call_ended' ? (before[fact.call.call_id]?.started_at ?? null) : null;
    if (fact.kind !== 'call_ended' || since === null) return [];
    const asked = waiting('permission', fact.call.tool, since);
    return [{ kind: 'wait_started', waiting: asked, call: fact.name, at: since, agent }];
  });
};
/** The counts of the agent that a line is about. */
const countedIn = (state                   , line        , agent        ) => {
  const read = claudeTranscript.read(ownOf(state.counts, agent) ?? claudeTranscript.initial, line);
  return {
    state: { ...state, counts: { ...state.counts, [agent]: read.state } },
    events: read.events.filter((event) => !isSeen(event)),
  };
};
const ofSession = (before                   , line        , entry        , when        )       => {
  const { state: counted, events } = countedIn(before, line, '');
  const step = stepOf(counted, entry, when);
  const own = step.facts.map((fact)               => ({ ...fact, at: when, agent: null }));
  return { state: step.state, events: [...events, ...waitsOf(before.calls, step, entry, null), ...own] };
};
/** A sub-agent begins with its first answer, which names its sort, and ends with its last one. */
const ofSubagent = (before                   , line        , entry        , when        , id        )       => {
  const isKnown = before.subagents.includes(id);
  if (!isKnown && textAt(entry, 'type') !== 'assistant') return { state: before, events: [] };
  const { state: counted, events } = countedIn(before, line, id);
  const step = stepOf(counted, entry, when);
  const type = textAt(entry, 'attributionAgent');
  const start                          = isKnown ? [] : [{ kind: 'subagent_started', id, type, at: when, agent: null }];
  const own = step.facts
    .filter(({ kind }) => kind !== 'turn_started' && kind !== 'turn_ended')
    .map((fact)               => ({ ...fact, at: when, agent: id }));
  const isOver = step.facts.some(({ kind }) => kind === 'turn_ended');
  const end                          = isOver ? [{ kind: 'subagent_ended', id, at: when, agent: null }] : [];
  return {
    state: isKnown ? step.state : { ...step.state, subagents: [...before.subagents, id] },
    events: [...start, ...events, ...waitsOf(before.calls, step, entry, id), ...own, ...end],
  };
};
const readEntry = (state                   , line        , entry        )       => {
  const when = instantAt(entry, 'timestamp');
  if (when === null) return countedIn(state, line, '');
  if (at(entry, 'isSidechain') !== true) return ofSession(state, line, entry, when);
  const id = textAt(entry, 'agentId');
  // Older versions do not say which sub-agent a line is about.
  return id === null ? { state, events: [] } : ofSubagent(state, line, entry, when, id);
};
/** ~/.claude/projects/PROJECT/SESSION.jsonl, and SESSION/subagents/agent-ID.jsonl beside it */
export const claudeSessionFile                                       = {
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
