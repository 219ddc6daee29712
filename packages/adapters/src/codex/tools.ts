import { type CallEnd, callsBy, endWith, exitClass, headOf, type ToolTraits } from '../shared/calls.ts';
import { isCheckingCommand } from '../shared/checks.ts';
import { at, type Fields, numberAt, parseLine, textAt } from '../shared/payload.ts';
import { isWaitingCommand, isWaitingTool } from '../shared/polls.ts';

const SHELLS: ReadonlySet<string> = new Set(['Bash', 'shell', 'exec_command', 'local_shell']);
const EDITS: ReadonlySet<string> = new Set(['apply_patch', 'Edit', 'Write']);
/** Tools whose purpose is polling. A hook prefixes the name with the group of the tool: `multi_agent_v1wait_agent`. */
const POLLING = /^(?:write_stdin|wait|(?:multi_agent_v\d+|collaboration)?wait_agent)$/;

/** The first file that a patch names. */
const patchedFile = (args: unknown): string | null => {
  const patch = textAt(args, 'command') ?? textAt(args, 'input') ?? textAt(args, 'patch') ?? '';
  return /^\*\*\* (?:Add|Update|Delete) File: (.+)$/m.exec(patch)?.[1]?.trim() ?? null;
};

const kindOf = (tool: string): ToolTraits['kind'] =>
  tool === 'web_search' || tool.startsWith('mcp__') ? 'external_api' : 'tool';

/** A command as the hooks name it: the text after `bash -lc`. */
export const commandOf = (command: unknown): string => {
  if (typeof command === 'string') return command;
  const words = Array.isArray(command) ? command.map(String) : [];
  return words.length === 3 && /^-l?c$/.test(words[1] ?? '') ? (words[2] ?? '') : words.join(' ');
};

export const codexTraitsOf = (tool: string, args: unknown): ToolTraits => {
  const command = SHELLS.has(tool) ? commandOf(at(args, 'command')) : '';
  const declared = SHELLS.has(tool) ? numberAt(args, 'timeout_ms') : null;
  return {
    kind: kindOf(tool),
    mutating: EDITS.has(tool),
    polling: POLLING.test(tool) || isWaitingTool(tool) || isWaitingCommand(command),
    checking: isCheckingCommand(command),
    target: EDITS.has(tool) ? (textAt(args, 'file_path') ?? patchedFile(args)) : null,
    limitMs: declared !== null && declared > 0 ? Math.round(declared) : null,
  };
};

export const codexCall = callsBy(codexTraitsOf);

/** The exit code in an output, in any of the formats that Codex passes to its model; null without one. */
export const exitCodeOf = (output: unknown): number | null => {
  const stated = numberAt(output, 'metadata', 'exit_code') ?? numberAt(output, 'exit_code');
  if (stated !== null || typeof output !== 'string') return stated;
  const head = output.slice(0, 400);
  const line = /^(?:Process exited with code|Exit code:?) (-?\d{1,10})\s*$/m.exec(head)?.[1];
  if (line !== undefined) return Number(line);
  const json = /"exit_code":\s*(-?\d{1,10})/.exec(output.startsWith('{') ? output.slice(-200) : '')?.[1];
  return json === undefined ? null : Number(json);
};

/** The part of a result that the model reads: a text, or parts, some of them texts. */
const outputOf = (item: Fields): string => {
  const output = at(item, 'output');
  if (typeof output === 'string') return output;
  const content = at(output, 'content') ?? output;
  if (typeof content === 'string') return content;
  return (Array.isArray(content) ? content : []).map((part: unknown) => textAt(part, 'text') ?? '').join('\n');
};

/** The output without its heading, which names the process and its time. */
const plain = (output: string): string => {
  const head = /^(?:Chunk ID|Wall time|Exit code|Process (?:exited|running))[\s\S]*?\nOutput:\n/.exec(output);
  if (head !== null) return output.slice(head[0].length);
  return textAt(parseLine(output), 'output') ?? output;
};

const REFUSED = /\brejected by (?:the )?user\b|\b(?:denied|blocked) by (?:policy|(?:PreToolUse )?hook|the user)\b/i;
/** A refusal by a rule, or by an approval policy that never asks. The text of the command follows. */
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
  if (exitCode !== null) return endWith(result, exitClass(exitCode));
  const head = headOf(output);
  if (REFUSED_BY_POLICY.test(head) || REFUSED.test(head)) return { outcome: 'refused', result };
  if (RUNS_ON.test(head)) return { outcome: 'abandoned', result: undefined };
  return endWith(result, FAILED.test(head) ? 'tool_error' : null);
};
