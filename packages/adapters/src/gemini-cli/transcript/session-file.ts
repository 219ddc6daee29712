import type { SessionFileReader } from '../../adapter.ts';
import { isSeen, type SessionEvent, type SessionFact } from '../../session/events.ts';
import { withEnd } from '../../shared/calls.ts';
import type { Counts } from '../../shared/counts.ts';
import { at, type Fields, instantAt, isFields, listAt, parseLine, textAt } from '../../shared/payload.ts';
import { turnFailed } from '../failure.ts';
import { callInFile, endInFile } from '../results.ts';
import { textOf } from '../tools.ts';
import { geminiTranscript } from './transcript.ts';

/** `answers`: messages of the model that have been read; each is written again when its calls have ended. */
export type GeminiSessionFile = { readonly counts: Counts; readonly answers: readonly string[] };

const callEvents = (entry: unknown, asked: number): readonly SessionEvent[] => {
  const call = callInFile(entry, asked);
  const started: SessionEvent = { kind: 'call_started', call, batch: null, asks: null, at: asked, agent: null };
  const end = endInFile(entry);
  if (end === null) return [started];
  const when = instantAt(entry, 'timestamp') ?? asked;
  const name = { callId: call.call_id, tool: call.tool, argsHash: call.args_hash };
  return [started, { kind: 'call_ended', call: withEnd(call, end, when), name, at: when, agent: null }];
};

/** Commands of the client itself, which no model answers. */
const COMMAND = /^\s*(?:[/!]|\?\s*$)/;

const userFacts = (message: Fields): readonly SessionFact[] => {
  const text = textOf(at(message, 'content'));
  return text === null || COMMAND.test(text) ? [] : [{ kind: 'turn_started' }];
};

const infoFacts = (message: Fields): readonly SessionFact[] =>
  textOf(at(message, 'content'))?.startsWith('Request cancelled') === true ? [{ kind: 'turn_interrupted' }] : [];

const factsOf = (message: Fields, isNew: boolean, when: number): readonly SessionFact[] => {
  switch (textAt(message, 'type')) {
    case 'user':
      return userFacts(message);
    // A message without calls may be the last of its turn; calls that are added to it later open the turn again.
    case 'gemini':
      return isNew ? [{ kind: 'model_answers' }, { kind: 'turn_ended', wakes: false }] : [];
    case 'error':
      return [turnFailed('error', textOf(at(message, 'content')) ?? '', when)];
    case 'info':
      return infoFacts(message);
    default:
      return [];
  }
};

type Read = { readonly state: GeminiSessionFile; readonly events: readonly SessionEvent[] };

const readMessage = ({ state, events }: Read, message: unknown): Read => {
  const when = instantAt(message, 'timestamp');
  if (!isFields(message) || when === null) return { state, events };
  const id = textAt(message, 'id') ?? '';
  const isNew = !state.answers.includes(id);
  const counted = geminiTranscript.read(state.counts, JSON.stringify(message));
  const facts = factsOf(message, isNew, when).map((fact): SessionEvent => ({ ...fact, at: when, agent: null }));
  const calls = listAt(message, 'toolCalls').flatMap((call) => callEvents(call, when));
  const answers = isNew ? [...state.answers, id] : state.answers;
  return {
    state: { counts: counted.state, answers },
    events: [...events, ...counted.events.filter((event) => !isSeen(event)), ...facts, ...calls],
  };
};

/** The messages of a line: itself, those of a whole session, or those that a line puts in place of others. */
const messagesOf = (entry: Fields): readonly unknown[] => {
  const all = at(entry, 'messages') ?? at(entry, '$set', 'messages');
  return Array.isArray(all) ? all : [entry];
};

/** ~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl; older versions write one JSON document, session-TIME-ID.json */
export const geminiSessionFile: SessionFileReader<GeminiSessionFile> = {
  place: '~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl or .json',
  subagentsOf: () => null,
  isOf: (entry) =>
    textAt(entry, 'sessionId') !== null &&
    (textAt(entry, 'projectHash') !== null || Array.isArray(at(entry, 'messages'))),
  initial: { counts: geminiTranscript.initial, answers: [] },
  read: (state, line) => {
    const entry = parseLine(line);
    if (entry === null) return { state, events: [], sessionId: null };
    const sessionId = textAt(entry, 'sessionId');
    return { ...messagesOf(entry).reduce<Read>(readMessage, { state, events: [] }), sessionId };
  },
};
