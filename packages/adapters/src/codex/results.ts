import type { CallEnd } from '../shared/calls.ts';
import { headOf } from '../shared/calls.ts';
import { at, type Fields, parseLine, textAt } from '../shared/payload.ts';
import { exitCodeOf } from './tools.ts';

/** The part of a result that the model reads: a text, or parts, some of them texts. */
const outputOf = (item: Fields): string => {
  const output = at(item, 'output');
  if (typeof output === 'string') return output;
  const content = at(output, 'content') ?? output;
  if (typeof content === 'string') return content;
  return (Array.isArray(content) ? content : []).map((part: unknown) => textAt(part, 'text') ?? '').join('\n');
};

/** The output without the lines before it, which name the process and its time. */
const plain = (output: string): string => {
  const head = /^(?:Chunk ID|Wall time|Exit code|Process (?:exited|running))[\s\S]*?\nOutput:\n/.exec(output);
  if (head !== null) return output.slice(head[0].length);
  return textAt(parseLine(output), 'output') ?? output;
};

const REFUSED = /\brejected by (?:the )?user\b|\b(?:denied|blocked) by (?:policy|(?:PreToolUse )?hook|the user)\b/i;
/** A rule, or an approval policy that never asks. Text of the command follows. */
const REFUSED_BY_POLICY =
  /^(?:exec_command failed: CreateProcess \{ message: "Rejected\(|patch rejected:|approval policy is)/;
const FAILED =
  /^(?:unsupported call|apply_patch verification failed|failed to parse function arguments|tool call error|exec_command failed)\b/;
/**
 * The command continues in the background. The model requests its further output, and its exit code, by another call.
 */
const RUNS_ON = /^Process running with session ID \d+$/m;

/** How a call ended, by the item of the session file that has its result. */
export const endInFile = (item: Fields): CallEnd => {
  const output = outputOf(item);
  const result = plain(output);
  const exitCode = exitCodeOf(output);
  if (exitCode !== null)
    return exitCode === 0 ? { outcome: 'ok', result } : { outcome: 'error', result, errorClass: `exit_${exitCode}` };
  const head = headOf(output);
  if (REFUSED_BY_POLICY.test(head) || REFUSED.test(head)) return { outcome: 'refused', result };
  if (RUNS_ON.test(head)) return { outcome: 'abandoned', result: undefined };
  return FAILED.test(head) ? { outcome: 'error', result, errorClass: 'tool_error' } : { outcome: 'ok', result };
};
