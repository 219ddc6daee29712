import type { Adapter, CommandLine, Invocation } from '../adapter.ts';
import { asPrompt, has, optionSpec, optionsWithout, optionValue, sessionLineOf } from '../shared/command-line.ts';

/** `claude --help` of 2.1.330 */
const options = optionSpec(
  `--agent --agents --append-system-prompt --append-system-prompt-file --autocompact --debug-file --effort --environment
   --fallback-model --input-format --json-schema --max-budget-usd --max-turns --model -n --name --output-format
   --permission-mode --permission-prompt-tool --permission-prompts --plugin-dir --plugin-url
   --remote-control-session-name-prefix --session-id --setting-sources --settings --system-prompt --system-prompt-file
   --system-prompt-snapshot`,
  '--cloud -d --debug --from-pr --prompt-suggestions --remote-control -r --resume --teleport -w --worktree',
  '--add-dir --allowedTools --allowed-tools --betas --disallowedTools --disallowed-tools --file --mcp-config --tools',
);

const parse = (line: CommandLine) =>
  sessionLineOf(line, {
    binary: 'claude',
    npmPackage: '@anthropic-ai/claude-code',
    options,
    otherCommands: `agents attach auth auto-mode doctor gateway import install logs mcp plugin plugins purge respawn rm setup-token stop
      kill ultrareview update upgrade`,
    otherOptions: '-v --version -h --help',
  });

export const claudeInvocation = (line: CommandLine): Invocation | null => {
  const parsed = parse(line);
  if (parsed === null) return null;
  const headless = has(parsed.parts, '-p', '--print');
  const streamsEvents = headless && optionValue(parsed.parts, '--output-format') === 'stream-json';
  return { headless, streamsEvents, printsProgress: streamsEvents };
};

/** Options that name the session or the files of its first prompt. */
const REPLACED = ['-c', '--continue', '-r', '--resume', '--session-id', '--fork-session', '--from-pr', '--file'];
/** Options of sessions that run elsewhere, are not stored, or read their prompts from another program. */
const NOT_RESUMABLE = ['--no-session-persistence', '--bg', '--background', '--cloud', '--teleport', '-w', '--worktree'];

export const claudeResume: Adapter['resume'] = (line, sessionId, text) => {
  const parsed = parse(line);
  if (parsed === null || has(parsed.parts, ...NOT_RESUMABLE)) return null;
  if (optionValue(parsed.parts, '--input-format') === 'stream-json') return null;
  const options = optionsWithout(parsed.parts, REPLACED);
  return { command: line.command, args: [...parsed.before, ...options, '--resume', sessionId, '--', asPrompt(text)] };
};
