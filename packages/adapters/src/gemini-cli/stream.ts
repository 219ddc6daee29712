import type { SessionFact } from '../session/events.ts';
import type { CallEnd, OpenCalls } from '../shared/calls.ts';
import { at, countAt, type Fields, isFields, textAt } from '../shared/payload.ts';
import { beginCall, endCall, type Step, streamBy } from '../shared/stream.ts';
import { turnFailed } from './failure.ts';
import { geminiCall, isShell } from './tools.ts';

type State = { readonly calls: OpenCalls };

/** Some tools print nothing here, and commands print no exit code, so their success is unknown. */
const endOf = (entry: Fields, tool: string): CallEnd => {
  const output = textAt(entry, 'output') ?? undefined;
  const failed = textAt(entry, 'status') === 'error';
  const result = output ?? textAt(entry, 'error', 'message') ?? undefined;
  if (!failed) return { outcome: isShell(tool) ? 'abandoned' : 'ok', result };
  return { outcome: 'error', result, errorClass: textAt(entry, 'error', 'type') ?? 'tool_error' };
};

const summed = (stats: unknown): SessionFact => {
  const models = Object.entries(isFields(at(stats, 'models')) ? (at(stats, 'models') as Fields) : {});
  const usage = models.map(([model, sums]) => ({
    model,
    input_tokens: Math.max(0, countAt(sums, 'input_tokens') - countAt(sums, 'cached')),
    cache_read_tokens: countAt(sums, 'cached'),
    cache_write_tokens: 0,
    output_tokens: countAt(sums, 'output_tokens'),
  }));
  return { kind: 'usage_counted', usage: { usage, context: null, costUsd: null } };
};

const result = (entry: Fields, when: number): readonly SessionFact[] => {
  const counted = summed(at(entry, 'stats'));
  if (textAt(entry, 'status') !== 'error') return [counted, { kind: 'turn_ended', wakes: false }];
  const message = textAt(entry, 'error', 'message') ?? '';
  return [counted, turnFailed(textAt(entry, 'error', 'type') ?? 'error', message, when)];
};

const stepOf = (state: State, entry: Fields, when: number): Step<State> => {
  switch (textAt(entry, 'type')) {
    case 'init':
      return { state, facts: [{ kind: 'session_started', source: 'start' }] };
    case 'message':
      return { state, facts: [{ kind: textAt(entry, 'role') === 'user' ? 'turn_started' : 'model_answers' }] };
    case 'tool_use':
      return beginCall(
        state,
        geminiCall(textAt(entry, 'tool_id'), textAt(entry, 'tool_name'), at(entry, 'parameters')),
        when,
      );
    case 'tool_result':
      return endCall(state, textAt(entry, 'tool_id') ?? '', (tool) => endOf(entry, tool), when);
    case 'result':
      return { state, facts: result(entry, when) };
    default:
      return { state, facts: [] };
  }
};

/** `gemini -p --output-format stream-json` */
export const geminiStream = streamBy<State>({ calls: {} }, { first: 'init', idField: 'session_id' }, stepOf);
