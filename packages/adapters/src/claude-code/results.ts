import { type CallEnd, headOf } from '../shared/calls.ts';
import { errorClassOf, isShell } from './tools.ts';

const REFUSAL =
  /\bpermissions? (?:to|for)\b.*\b(?:denied|granted|rejected)|haven't granted|require[s]? approval|doesn't want to (?:proceed|take this action)|\bdenied (?:this tool|by)\b|hook .*\b(?:denied|blocked)/is;

/** Claude Code's words for a call that was not made. */
export const isRefusal = (text: string): boolean => REFUSAL.test(headOf(text));

/** The end of a call by its result in a batch. Only some texts name the outcome. */
export const endInBatch = (tool: string, result: unknown): CallEnd => {
  const text = typeof result === 'string' ? headOf(result) : '';
  if (isRefusal(text)) return { outcome: 'refused', result };
  if (/^(?:Exit code \d|<tool_use_error>)/.test(text))
    return { outcome: 'error', result, errorClass: errorClassOf(tool, text, false) };
  return isShell(tool) && text !== '' ? { outcome: 'ok', result } : { outcome: 'abandoned', result };
};
