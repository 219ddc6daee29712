import type { SessionFileReader, TranscriptReader } from '../adapter.ts';
import { eventsAt, isSeen } from '../session/events.ts';
import type { ClientCall, OpenCalls } from '../shared/calls.ts';
import { at, type Fields, instantAt, isFields, parseLine, textAt } from '../shared/payload.ts';
import { beginCall, endCall, type Step } from '../shared/stream.ts';
import { codexCall, commandOf, endInFile } from './tools.ts';
import type { CodexTranscript } from './transcript.ts';

/** `hasTurns`: whether the version that wrote the file marks the start and end of turns. */
export type CodexSessionFile = {
  readonly transcript: CodexTranscript;
  readonly calls: OpenCalls;
  readonly hasTurns: boolean;
};

const SHELLS: ReadonlySet<string | null> = new Set(['exec_command', 'shell', 'shell_command', 'container.exec']);

const argumentsOf = (payload: Fields): unknown => {
  try {
    return JSON.parse(textAt(payload, 'arguments') ?? '{}');
  } catch {
    return { input: at(payload, 'arguments') };
  }
};

/** A command as the hooks name it. */
const shellCall = (id: string | null, command: unknown, args: unknown): ClientCall => {
  const workdir = textAt(args, 'workdir') ?? textAt(args, 'working_directory');
  const timeout = at(args, 'timeout_ms');
  return codexCall(id, 'Bash', {
    command: commandOf(command),
    ...(workdir === null ? {} : { workdir }),
    ...(timeout === undefined ? {} : { timeout_ms: timeout }),
  });
};

/** The call that an item of the model's answer begins; null: the item is not a call. */
const callOf = (payload: Fields): ClientCall | null => {
  const id = textAt(payload, 'call_id');
  const name = textAt(payload, 'name');
  switch (textAt(payload, 'type')) {
    case 'function_call': {
      const args = argumentsOf(payload);
      return SHELLS.has(name) ? shellCall(id, at(args, 'cmd') ?? at(args, 'command'), args) : codexCall(id, name, args);
    }
    case 'custom_tool_call':
      return codexCall(id, name, { command: at(payload, 'input') });
    case 'local_shell_call':
      return shellCall(id, at(payload, 'action', 'command'), at(payload, 'action'));
    default:
      return null;
  }
};

const ENDS: ReadonlySet<string | null> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
]);

const item = (state: CodexSessionFile, payload: Fields, when: number): Step<CodexSessionFile> => {
  const call = callOf(payload);
  if (call !== null) {
    const begun = beginCall(state, call, when);
    return { ...begun, facts: [{ kind: 'model_answers' }, ...begun.facts] };
  }
  if (ENDS.has(textAt(payload, 'type')))
    return endCall(state, textAt(payload, 'call_id') ?? '', () => endInFile(payload), when);
  const isAnswer = textAt(payload, 'type') === 'reasoning' || textAt(payload, 'role') === 'assistant';
  return { state, facts: isAnswer ? [{ kind: 'model_answers' }] : [] };
};

const event = (state: CodexSessionFile, payload: Fields): Step<CodexSessionFile> => {
  switch (textAt(payload, 'type')) {
    case 'task_started':
      return { state: { ...state, hasTurns: true }, facts: [{ kind: 'turn_started' }] };
    case 'task_complete':
      return { state, facts: isFields(at(payload, 'error')) ? [] : [{ kind: 'turn_ended', wakes: false }] };
    // If the file does not mark ends of turns, any message may be the last of its turn; what follows opens the turn again.
    case 'agent_message':
      return { state, facts: state.hasTurns ? [] : [{ kind: 'turn_ended', wakes: false }] };
    default:
      return { state, facts: [] };
  }
};

const stepOf = (state: CodexSessionFile, entry: Fields, when: number): Step<CodexSessionFile> => {
  const payload = at(entry, 'payload');
  if (!isFields(payload)) return { state, facts: [] };
  switch (textAt(entry, 'type')) {
    case 'response_item':
      return item(state, payload, when);
    case 'event_msg':
      return event(state, payload);
    default:
      return { state, facts: [] };
  }
};

/** ~/.codex/sessions/YYYY/MM/DD/rollout-TIME-SESSION.jsonl */
export const codexSessionFile = (
  transcript: TranscriptReader<CodexTranscript>,
): SessionFileReader<CodexSessionFile> => ({
  place: '~/.codex/sessions/YYYY/MM/DD/rollout-TIME-SESSION.jsonl',
  subagentsOf: () => null,
  isOf: (entry) =>
    textAt(entry, 'type') !== null && instantAt(entry, 'timestamp') !== null && isFields(at(entry, 'payload')),
  initial: { transcript: transcript.initial, calls: {}, hasTurns: false },
  read: (state, line) => {
    const entry = parseLine(line);
    const when = instantAt(entry, 'timestamp');
    if (entry === null || when === null) return { state, events: [], sessionId: null };
    const known = transcript.read(state.transcript, line);
    const step = stepOf({ ...state, transcript: known.state }, entry, when);
    const sessionId = textAt(entry, 'type') === 'session_meta' ? textAt(entry, 'payload', 'id') : null;
    return {
      state: step.state,
      events: [...known.events.filter((event) => !isSeen(event)), ...eventsAt(when, null, step.facts)],
      sessionId,
    };
  },
});
