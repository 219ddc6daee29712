import type { ContextUse, TokenUsage } from '@vigil/events';
import { type CallEnd, callsBy, endWith, headOf, openedCall, type ToolTraits } from '../shared/calls.ts';
import { isCheckingCommand } from '../shared/checks.ts';
import { tokensIn } from '../shared/counts.ts';
import { at, listAt, textAt } from '../shared/payload.ts';
import { isWaitingCommand, isWaitingTool } from '../shared/polls.ts';

const SHELL = 'run_shell_command';

export const isShell = (tool: string): boolean => tool === SHELL;

const MUTATING: ReadonlySet<string> = new Set(['write_file', 'replace', 'edit']);
const WEB: ReadonlySet<string> = new Set(['web_fetch', 'google_web_search']);

const kindOf = (tool: string): ToolTraits['kind'] =>
  WEB.has(tool) || tool.startsWith('mcp_') ? 'external_api' : 'tool';

export const geminiTraitsOf = (tool: string, args: unknown): ToolTraits => ({
  kind: kindOf(tool),
  mutating: MUTATING.has(tool),
  polling: isWaitingTool(tool) || (tool === SHELL && isWaitingCommand(textAt(args, 'command'))),
  checking: tool === SHELL && isCheckingCommand(textAt(args, 'command')),
  target: textAt(args, 'file_path') ?? textAt(args, 'absolute_path'),
  limitMs: null,
});

export const geminiCall = callsBy(geminiTraitsOf);

/** The part that the model reads: a text, or parts, some of them texts. */
export const textOf = (content: unknown): string | null => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return textAt(content, 'text');
  const texts = content.flatMap((part: unknown) => textOf(part) ?? []);
  return texts.length === 0 ? null : texts.join('');
};

const FRAME =
  /^<untrusted_context>\n?|\n?<\/untrusted_context>$|^Process Group PGID: \d+$\n?|^Background PIDs: .*$\n?/gm;

/** The result without the parts that differ between calls although nothing has changed. */
const plain = (text: string): string =>
  text
    .replace(FRAME, '')
    .replace(/^Output: /, '')
    .trimEnd();

/** A refusal by a hook, a policy or a person. */
const REFUSED: ReadonlySet<string | null> = new Set(['policy_violation', 'stop_execution']);

/** The class of an error: a command's exit code, else Gemini CLI's own name. */
const errorOf = (text: string, response: unknown): string | null => {
  const exitCode = /^Exit Code: (-?\d{1,10})$/m.exec(text)?.[1];
  if (exitCode !== undefined) return `exit_${exitCode}`;
  if (/exceeded the timeout/i.test(headOf(text))) return 'timeout';
  const error = at(response, 'error');
  if (error === undefined || error === null) return /^Signal: \S/m.test(text) ? 'aborted' : null;
  return textAt(error, 'type') ?? 'tool_error';
};

export const endOf = (response: unknown): CallEnd => {
  const text = textOf(at(response, 'llmContent')) ?? textAt(response, 'returnDisplay') ?? '';
  const errorClass = errorOf(text, response);
  const result = plain(text);
  return REFUSED.has(errorClass) ? { outcome: 'refused', result } : endWith(result, errorClass);
};

/** The end of a call in a session file; null if it has not ended. */
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
  openedCall(geminiCall(textAt(entry, 'id'), textAt(entry, 'name'), at(entry, 'args')), asked);

/** The context window that Gemini CLI assumes for every model, tokens (`tokenLimit` in its core package, 0.61.0). */
const CONTEXT_WINDOW = 1_048_576;

/** The used part of the window after an answer: the whole request and the answer. */
export const contextOf = (tokens: TokenUsage): ContextUse => ({
  tokens_used: tokensIn(tokens),
  tokens_max: CONTEXT_WINDOW,
});
