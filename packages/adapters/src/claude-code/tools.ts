import type { WaitingFor, WaitKind } from '@vigil/events';
import { type CallEnd, type ClientCall, callsBy, headOf, type ToolTraits, waiting } from '../shared/calls.ts';
import { isCheckingCommand } from '../shared/checks.ts';
import { listAt, numberAt, textAt } from '../shared/payload.ts';
import { isWaitingCommand, isWaitingTool } from '../shared/polls.ts';

const SHELLS: ReadonlySet<string> = new Set(['Bash', 'PowerShell']);
/**
 * A success of these tools is progress by itself. A shell command's success is not, although it may change anything.
 * A repeated command with the same result is what a loop looks like. The result of a command that changed something
 * mostly differs.
 */
const MUTATING: ReadonlySet<string> = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);
const POLLING: ReadonlySet<string> = new Set(['BashOutput', 'TaskOutput', 'Monitor']);
/** Tools that a person answers. */
const ASKING: Readonly<Record<string, WaitKind>> = { AskUserQuestion: 'question', ExitPlanMode: 'plan' };

export const isShell = (tool: string): boolean => SHELLS.has(tool);

const kindOf = (tool: string): ToolTraits['kind'] =>
  tool === 'WebFetch' || tool === 'WebSearch' || tool.startsWith('mcp__') ? 'external_api' : 'tool';

/** Milliseconds that a shell command declares. */
const limitOf = (tool: string, args: unknown): number | null => {
  const declared = isShell(tool) ? numberAt(args, 'timeout') : null;
  return declared !== null && declared > 0 ? Math.round(declared) : null;
};

export const claudeTraitsOf = (tool: string, args: unknown): ToolTraits => ({
  kind: kindOf(tool),
  mutating: MUTATING.has(tool),
  polling: POLLING.has(tool) || isWaitingTool(tool) || (isShell(tool) && isWaitingCommand(textAt(args, 'command'))),
  checking: isShell(tool) && isCheckingCommand(textAt(args, 'command')),
  target: textAt(args, 'file_path') ?? textAt(args, 'notebook_path'),
  limitMs: limitOf(tool, args),
});

export const claudeCall = callsBy(claudeTraitsOf);

/** The question of a tool to a person; null without one. */
export const askedBy = (
  tool: string,
  args: unknown,
): { readonly kind: WaitKind; readonly text: string | null } | null => {
  const kind = Object.hasOwn(ASKING, tool) ? ASKING[tool] : undefined;
  if (kind === undefined) return null;
  if (kind === 'plan') return { kind, text: textAt(args, 'plan') };
  const questions = listAt(args, 'questions').flatMap((one) => textAt(one, 'question') ?? []);
  return { kind, text: questions.length === 0 ? null : questions.join('\n') };
};

/** What a call itself waits for; null for nothing. */
export const waitOf = ({ tool, args }: ClientCall, since: number): WaitingFor | null => {
  const asked = askedBy(tool, args);
  return asked === null ? null : waiting(asked.kind, asked.text, since);
};

/** The class of an error. `exit_1` is the outcome of a command; the other classes are failures of the tool. */
export const errorClassOf = (tool: string, error: string, interrupted: boolean): string => {
  const head = headOf(error);
  if (interrupted) return 'aborted';
  if (/\btimed[ -]?out\b|\btimeout\b/i.test(head)) return 'timeout';
  const status = isShell(tool) ? /^Exit code (\d{1,3})\b/.exec(head)?.[1] : undefined;
  if (status !== undefined) return `exit_${status}`;
  if (kindOf(tool) === 'external_api' && /\brate[ _-]?limit|\b429\b|\boverloaded/i.test(head)) return 'rate_limit';
  return 'tool_error';
};

const REFUSAL =
  /\bpermissions? (?:to|for)\b.*\b(?:denied|granted|rejected)|haven't granted|require[s]? approval|doesn't want to (?:proceed|take this action)|\bdenied (?:this tool|by)\b|hook .*\b(?:denied|blocked)/is;

/** Claude Code's texts for a call that was not made. */
export const isRefusal = (text: string): boolean => REFUSAL.test(headOf(text));

/** The end of a call by its result in a batch. Only some texts name the outcome. */
export const endInBatch = (tool: string, result: unknown): CallEnd => {
  const text = typeof result === 'string' ? headOf(result) : '';
  if (isRefusal(text)) return { outcome: 'refused', result };
  if (/^(?:Exit code \d|<tool_use_error>)/.test(text))
    return { outcome: 'error', result, errorClass: errorClassOf(tool, text, false) };
  return isShell(tool) && text !== '' ? { outcome: 'ok', result } : { outcome: 'abandoned', result };
};
