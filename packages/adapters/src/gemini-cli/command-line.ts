import type { Adapter, CommandLine, Invocation } from '../adapter.ts';
import {
  argumentsOf,
  has,
  optionSpec,
  optionsWithout,
  optionValue,
  type Part,
  partsOf,
  startOf,
} from '../shared/command-line.ts';
import { asPrompt } from '../shared/prompt.ts';

/** `gemini --help` of 0.61.0 */
const SPEC = optionSpec(
  `-m --model -p --prompt -i --prompt-interactive --approval-mode --session-file --session-id --delete-session -o
   --output-format`,
  '-w --worktree -r --resume',
  '--policy --admin-policy --allowed-mcp-server-names --allowed-tools -e --extensions --include-directories',
);

/** Commands and options that start no session of an agent in this terminal. */
const COMMANDS: ReadonlySet<string> = new Set('mcp extensions extension skills skill hooks hook gemma'.split(' '));
const OTHER =
  `-v --version -h --help -l --list-extensions --list-sessions --delete-session --acp --experimental-acp`.split(' ');

type Parsed = { readonly before: readonly string[]; readonly parts: readonly Part[] };

const parse = (line: CommandLine): Parsed | null => {
  const started = startOf(line, 'gemini', '@google/gemini-cli');
  if (started === null) return null;
  const parts = partsOf(started.args, SPEC);
  const isOther = COMMANDS.has(argumentsOf(parts)[0] ?? '') || has(parts, ...OTHER);
  return isOther ? null : { before: started.before, parts };
};

const isHeadless = (parts: readonly Part[]): boolean => has(parts, '-p', '--prompt');

export const geminiInvocation = (line: CommandLine): Invocation | null => {
  const parsed = parse(line);
  if (parsed === null) return null;
  const headless = isHeadless(parsed.parts);
  const streamsEvents = headless && optionValue(parsed.parts, '-o', '--output-format') === 'stream-json';
  return { headless, streamsEvents, printsProgress: streamsEvents };
};

/** What names the session or its prompt. */
const REPLACED = '-p --prompt -i --prompt-interactive -r --resume --session-file --session-id'.split(' ');

export const geminiResume: Adapter['resume'] = (line, sessionId, text) => {
  const parsed = parse(line);
  if (parsed === null || has(parsed.parts, '-w', '--worktree')) return null;
  const prompt = isHeadless(parsed.parts) ? '--prompt' : '--prompt-interactive';
  const options = optionsWithout(parsed.parts, REPLACED);
  const session = ['--resume', sessionId, `${prompt}=${asPrompt(text)}`];
  return { command: line.command, args: [...parsed.before, ...options, ...session] };
};
