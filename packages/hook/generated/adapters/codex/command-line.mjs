// Generated from packages/adapters/src/codex/command-line.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { argumentsOf, has, optionSpec, optionsWithout,            partsOf, startOf } from '../shared/command-line.mjs';
/** `codex --help` and `codex exec --help` of 0.169.0 */
const SPEC = optionSpec(
  `-c --config --enable --disable --remote --remote-auth-token-env -m --model --local-provider -p --profile -s --sandbox -C --cd
   --add-dir -a --ask-for-approval --thread-source --cyber-access-program --output-schema --color -o --output-last-message`,
  '',
  '-i --image',
);
/** Commands that are no session of an agent in this terminal. */
const COMMANDS                      = new Set(
  `agents login logout mcp plugin app-server remote-control completion update doctor sandbox debug apply queue archive delete
   migrate-rollouts migrate-nfs-db unarchive cloud exec-server features help`.split(/\s+/),
);
const isCommand = (part                  , ...names                   )          =>
  part?.name === null && names.includes(part.words[0] ?? '');
const parse = (line             )                => {
  const started = startOf(line, 'codex', '@openai/codex');
  if (started === null) return null;
  const parts = partsOf(started.args, SPEC);
  if (has(parts, '-V', '--version', '-h', '--help') || COMMANDS.has(argumentsOf(parts)[0] ?? '')) return null;
  const first = parts.findIndex(({ name }) => name === null);
  const headless = isCommand(parts[first], 'exec', 'e');
  const own = headless ? parts.slice(first + 1) : parts;
  const command = own.find(({ name }) => name === null);
  return {
    before: started.before,
    headless,
    global: headless ? parts.slice(0, first) : [],
    own,
    isConversation: !isCommand(command, 'fork', 'review'),
  };
};
export const codexInvocation = (line             )                    => {
  const parsed = parse(line);
  if (parsed === null) return null;
  const { headless, own } = parsed;
  // Without --json it prints each command and each answer for people.
  return { headless, streamsEvents: headless && has(own, '--json'), printsProgress: headless };
};
/** What names the session or belongs to its first prompt. */
const REPLACED = ['--last', '--all', '--include-non-interactive', '-i', '--image'];
const NOT_RESUMABLE = ['--ephemeral', '--worktree'];
export const codexResume                    = (line, sessionId, text) => {
  const parsed = parse(line);
  if (parsed === null || !parsed.isConversation || has(parsed.own, ...NOT_RESUMABLE)) return null;
  const options = optionsWithout(parsed.own, REPLACED);
  const session = ['resume', sessionId, '--', text];
  const args = parsed.headless
    ? [...optionsWithout(parsed.global, REPLACED), 'exec', ...options, ...session]
    : [...options, ...session];
  return { command: line.command, args: [...parsed.before, ...args] };
};
