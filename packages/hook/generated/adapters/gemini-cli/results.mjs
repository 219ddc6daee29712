// Generated from packages/adapters/src/gemini-cli/results.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import {               startedCall } from '../shared/calls.mjs';
import { at, listAt, textAt } from '../shared/payload.mjs';
import { endOf, geminiCall } from './tools.mjs';
/** How a call in the file of a session ended. Null: it has not ended. */
export const endInFile = (entry         )                 => {
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
/** A call in the file of a session. It is asked for by the message that it stands in; when it began to run is not written. */
export const callInFile = (entry         , asked        ) =>
  startedCall(geminiCall(textAt(entry, 'id'), textAt(entry, 'name'), at(entry, 'args')), asked);
