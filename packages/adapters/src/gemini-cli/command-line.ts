import type { Adapter, CommandLine, Invocation } from '../adapter.ts';
import {
  asPrompt,
  has,
  optionSpec,
  optionsWithout,
  optionValue,
  type Part,
  sessionLineOf,
} from '../shared/command-line.ts';

/** `gemini --help` of 0.61.0 */
const options = optionSpec(
  `-m --model -p --prompt -i --prompt-interactive --approval-mode --session-file --session-id --delete-session -o
   --output-format`,
  '-w --worktree -r --resume',
  '--policy --admin-policy --allowed-mcp-server-names --allowed-tools -e --extensions --include-directories',
);

const parse = (line: CommandLine) =>
  sessionLineOf(line, {
    binary: 'gemini',
    npmPackage: '@google/gemini-cli',
    options,
    otherCommands: 'mcp extensions extension skills skill hooks hook gemma',
    otherOptions:
      '-v --version -h --help -l --list-extensions --list-sessions --delete-session --acp --experimental-acp',
  });

const isHeadless = (parts: readonly Part[]): boolean => has(parts, '-p', '--prompt');

export const geminiInvocation = (line: CommandLine): Invocation | null => {
  const parsed = parse(line);
  if (parsed === null) return null;
  const headless = isHeadless(parsed.parts);
  const streamsEvents = headless && optionValue(parsed.parts, '-o', '--output-format') === 'stream-json';
  return { headless, streamsEvents, printsProgress: streamsEvents };
};

/** Options that name the session or its prompt. */
const REPLACED = '-p --prompt -i --prompt-interactive -r --resume --session-file --session-id'.split(' ');

export const geminiResume: Adapter['resume'] = (line, sessionId, text) => {
  const parsed = parse(line);
  if (parsed === null || has(parsed.parts, '-w', '--worktree')) return null;
  const prompt = isHeadless(parsed.parts) ? '--prompt' : '--prompt-interactive';
  const options = optionsWithout(parsed.parts, REPLACED);
  const session = ['--resume', sessionId, `${prompt}=${asPrompt(text)}`];
  return { command: line.command, args: [...parsed.before, ...options, ...session] };
};
