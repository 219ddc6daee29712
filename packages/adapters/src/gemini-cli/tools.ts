import { type CallEnd, type ClientCall, headOf, isWaitingCommand, type ToolTraits } from '../shared/calls.ts';
import { at, textAt } from '../shared/payload.ts';

const SHELL = 'run_shell_command';

export const isShell = (tool: string): boolean => tool === SHELL;

const MUTATING: ReadonlySet<string> = new Set(['write_file', 'replace', 'edit']);
const WEB: ReadonlySet<string> = new Set(['web_fetch', 'google_web_search']);

const kindOf = (tool: string): ToolTraits['kind'] =>
  WEB.has(tool) || tool.startsWith('mcp_') ? 'external_api' : 'tool';

export const geminiTraitsOf = (tool: string, args: unknown): ToolTraits => ({
  kind: kindOf(tool),
  mutating: MUTATING.has(tool),
  polling: tool === SHELL && isWaitingCommand(textAt(args, 'command')),
  target: textAt(args, 'file_path') ?? textAt(args, 'absolute_path'),
  limitMs: null,
});

export const geminiCall = (callId: string | null, tool: string | null, args: unknown): ClientCall => {
  const name = tool ?? 'unknown';
  return { callId, tool: name, args, traits: geminiTraitsOf(name, args) };
};

/** The part that the model reads: a text, or parts, some of them texts. */
export const textOf = (content: unknown): string | null => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return textAt(content, 'text');
  const texts = content.flatMap((part: unknown) => textOf(part) ?? []);
  return texts.length === 0 ? null : texts.join('');
};

const FRAME =
  /^<untrusted_context>\n?|\n?<\/untrusted_context>$|^Process Group PGID: \d+$\n?|^Background PIDs: .*$\n?/gm;

/** The result without what differs from one call to the next though nothing has changed. */
const plain = (text: string): string =>
  text
    .replace(FRAME, '')
    .replace(/^Output: /, '')
    .trimEnd();

/** A refusal by a hook, a policy or a person. */
const REFUSED: ReadonlySet<string> = new Set(['policy_violation', 'stop_execution']);

/** The class of an error: a command's exit code, else what Gemini CLI calls it. */
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
  if (errorClass === null) return { outcome: 'ok', result };
  return REFUSED.has(errorClass) ? { outcome: 'refused', result } : { outcome: 'error', result, errorClass };
};
