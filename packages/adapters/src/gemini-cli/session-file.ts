import type { LineRead, SessionFileReader } from '../adapter.ts';
import { callEnded, callStarted, eventsAt, isSeen, type SessionEvent, type SessionFact } from '../session/events.ts';
import { endOfOpened } from '../shared/calls.ts';
import type { Counts } from '../shared/counts.ts';
import { at, type Fields, instantAt, isFields, listAt, parseLine, textAt } from '../shared/payload.ts';
import { turnFailed } from './failure.ts';
import { callInFile, endInFile, textOf } from './tools.ts';
import { geminiTranscript } from './transcript.ts';

/** `answers`: messages of the model that are already read; each is written again when its calls have ended. */
export type GeminiSessionFile = { readonly counts: Counts; readonly answers: readonly string[] };

const callEvents = (entry: unknown, asked: number): readonly SessionEvent[] => {
  const call = callInFile(entry, asked);
  const started = eventsAt(asked, null, [callStarted(call.call, null, null)]);
  const end = endInFile(entry);
  const when = instantAt(entry, 'timestamp') ?? asked;
  return end === null ? started : [...started, ...eventsAt(when, null, [callEnded(endOfOpened(call, end, when))])];
};

/** Commands to the client itself, which the model does not answer. */
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
    // A message without calls may be the last of its turn. Calls that are added to it later reopen the turn.
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

type Read = LineRead<GeminiSessionFile>;

const readMessage = ({ state, events }: Read, message: unknown): Read => {
  const when = instantAt(message, 'timestamp');
  if (!isFields(message) || when === null) return { state, events };
  const id = textAt(message, 'id') ?? '';
  const isNew = !state.answers.includes(id);
  const counted = geminiTranscript.read(state.counts, JSON.stringify(message));
  const facts = eventsAt(when, null, factsOf(message, isNew, when));
  const calls = listAt(message, 'toolCalls').flatMap((call) => callEvents(call, when));
  const answers = isNew ? [...state.answers, id] : state.answers;
  return {
    state: { counts: counted.state, answers },
    events: [...events, ...counted.events.filter((event) => !isSeen(event)), ...facts, ...calls],
  };
};

/** The messages of a line: the line itself, those of a whole session, or replacements of earlier ones. */
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
