import type { Adapter, CommandLine, Invocation } from '../adapter.ts';
import { asPrompt, has, optionSpec, optionsWithout, type Part, sessionLineOf } from '../shared/command-line.ts';

/** `codex --help` and `codex exec --help` of 0.169.0 */
const options = optionSpec(
  `-c --config --enable --disable --remote --remote-auth-token-env -m --model --local-provider -p --profile -s --sandbox -C --cd
   --add-dir -a --ask-for-approval --thread-source --cyber-access-program --output-schema --color -o --output-last-message`,
  '',
  '-i --image',
);

type Parsed = {
  readonly before: readonly string[];
  readonly headless: boolean;
  /** the parts before and after the word `exec`; of an interactive session all are before */
  readonly global: readonly Part[];
  readonly own: readonly Part[];
  /** `fork` and `review` do not continue a conversation */
  readonly isConversation: boolean;
};

const isCommand = (part: Part | undefined, ...names: readonly string[]): boolean =>
  part?.name === null && names.includes(part.words[0] ?? '');

const parse = (line: CommandLine): Parsed | null => {
  const session = sessionLineOf(line, {
    binary: 'codex',
    npmPackage: '@openai/codex',
    options,
    otherCommands: `agents login logout mcp plugin app-server remote-control completion update doctor sandbox debug apply queue archive
      delete migrate-rollouts migrate-nfs-db unarchive cloud exec-server features help`,
    otherOptions: '-V --version -h --help',
  });
  if (session === null) return null;
  const { before, parts } = session;
  const first = parts.findIndex(({ name }) => name === null);
  const headless = isCommand(parts[first], 'exec', 'e');
  const own = headless ? parts.slice(first + 1) : parts;
  const command = own.find(({ name }) => name === null);
  return {
    before,
    headless,
    global: headless ? parts.slice(0, first) : [],
    own,
    isConversation: !isCommand(command, 'fork', 'review'),
  };
};

export const codexInvocation = (line: CommandLine): Invocation | null => {
  const parsed = parse(line);
  if (parsed === null) return null;
  const { headless, own } = parsed;
  // Without --json it prints each command and each answer as text.
  return { headless, streamsEvents: headless && has(own, '--json'), printsProgress: headless };
};

/** Options that name the session or belong to its first prompt. */
const REPLACED = ['--last', '--all', '--include-non-interactive', '-i', '--image'];
const NOT_RESUMABLE = ['--ephemeral', '--worktree'];

export const codexResume: Adapter['resume'] = (line, sessionId, text) => {
  const parsed = parse(line);
  if (parsed === null || !parsed.isConversation || has(parsed.own, ...NOT_RESUMABLE)) return null;
  const options = optionsWithout(parsed.own, REPLACED);
  const session = ['resume', sessionId, '--', asPrompt(text)];
  const args = parsed.headless
    ? [...optionsWithout(parsed.global, REPLACED), 'exec', ...options, ...session]
    : [...options, ...session];
  return { command: line.command, args: [...parsed.before, ...args] };
};
