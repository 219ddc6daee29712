import type { ToolCall } from '@vigil/events';
import type { LineRead, TranscriptReader } from '../adapter.ts';
import type { SessionEvent } from '../session/events.ts';
import { endOfOpened } from '../shared/calls.ts';
import { type Counts, counted, noCounts, totals } from '../shared/counts.ts';
import { countAt, type Fields, instantAt, listAt, numberAt, parseLine, textAt } from '../shared/payload.ts';
import { callInFile, contextOf, endInFile } from './tools.ts';

type Read = LineRead<Counts>;

/** Hooks report calls without ids. Only times distinguish calls of one tool with the same arguments. */
const endsSeen = (message: Fields, written: number): readonly SessionEvent[] => {
  const entries = listAt(message, 'toolCalls').map((entry) => {
    const one = callInFile(entry, written);
    const { tool, args_hash: argsHash } = one.call;
    return { entry, one, end: endInFile(entry), name: { callId: null, tool, argsHash } };
  });
  const isRunning = ({ tool, args_hash }: ToolCall): boolean =>
    entries.some(({ one, end }) => end === null && one.call.tool === tool && one.call.args_hash === args_hash);
  return entries.flatMap(({ entry, one, end, name }): readonly SessionEvent[] => {
    const when = instantAt(entry, 'timestamp');
    if (end === null || when === null || isRunning(one.call)) return [];
    return [{ kind: 'end_seen', call: endOfOpened(one, end, when), name, at: when, agent: null }];
  });
};

const counts = (state: Counts, message: Fields, id: string, when: number): Read => {
  if (numberAt(message, 'tokens', 'input') === null) return { state, events: [] };
  const cached = countAt(message, 'tokens', 'cached');
  const tokens = {
    model: textAt(message, 'model'),
    input_tokens: Math.max(0, countAt(message, 'tokens', 'input') - cached) + countAt(message, 'tokens', 'tool'),
    cache_read_tokens: cached,
    cache_write_tokens: 0,
    output_tokens: countAt(message, 'tokens', 'output') + countAt(message, 'tokens', 'thoughts'),
  };
  const after = counted(state, id, tokens);
  const usage = { usage: totals(after), context: contextOf(tokens), costUsd: null };
  return { state: after, events: [{ kind: 'usage_counted', usage, at: when, agent: null }] };
};

/** ~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl: a message is written again when its calls have ended. */
export const geminiTranscript: TranscriptReader<Counts> = {
  initial: noCounts,
  resumed: () => noCounts,
  read: (state, line) => {
    const entry = parseLine(line);
    const id = textAt(entry, 'id');
    const when = instantAt(entry, 'timestamp');
    if (entry === null || textAt(entry, 'type') !== 'gemini' || id === null || when === null)
      return { state, events: [] };
    const read = counts(state, entry, id, when);
    return { state: read.state, events: [...read.events, ...endsSeen(entry, when)] };
  },
};
