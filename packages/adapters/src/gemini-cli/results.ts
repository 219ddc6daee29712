import { type CallEnd, startedCall } from '../shared/calls.ts';
import { at, listAt, textAt } from '../shared/payload.ts';
import { endOf, geminiCall } from './tools.ts';

/** How a call in the file of a session ended. Null: it has not ended. */
export const endInFile = (entry: unknown): CallEnd | null => {
  const results = listAt(entry, 'result');
  const parts = results.map((part) => at(part, 'functionResponse', 'response'));
  const output = parts.flatMap((response) => textAt(response, 'output') ?? textAt(response, 'error') ?? []).join('\n');
  switch (textAt(entry, 'status')) {
    case 'success':
      return endOf({ llmContent: output });
    case 'error':
      return endOf({ llmContent: output, error: { type: textAt(entry, 'errorType') } });
    case 'cancelled':
      return { outcome: 'refused', result: output };
    case 'validating':
    case 'scheduled':
    case 'executing':
    case 'awaiting_approval':
      return null;
    default:
      return results.length === 0 ? null : { outcome: 'abandoned', result: undefined };
  }
};

/** A call in the file of a session. Its message requests it; the file does not record when it began to run. */
export const callInFile = (entry: unknown, asked: number) =>
  startedCall(geminiCall(textAt(entry, 'id'), textAt(entry, 'name'), at(entry, 'args')), asked);
