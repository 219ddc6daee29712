import { join } from 'node:path';
import type { Adapter } from '../adapter.ts';
import { claudeInvocation, claudeResume } from './command-line.ts';
import { claudeHooks } from './hooks.ts';
import { claudeCodeScreen, typedIntoClaudeCode } from './screen.ts';
import { claudeSessionFile } from './session-file.ts';
import { claudeStream } from './stream.ts';
import { claudeTraitsOf } from './tools.ts';
import { claudeTranscript } from './transcript.ts';

/** Claude Code ends a hook that takes longer. If Vigil does not answer, each event waits this long. Seconds. */
const COMMAND_SECONDS = 5;
const HTTP_SECONDS = 2;
/** A hook that waits for people ends by itself, after an hour at most. Seconds. */
const PEOPLE_SECONDS = 3660;
/** The events with requests to people. A question is asked at PreToolUse where no dialog follows, by a command only. */
const ASKING = { command: new Set(['PermissionRequest', 'PreToolUse']), http: new Set(['PermissionRequest']) };

/** The variable of the session's environment that authorizes its hooks at the gateway. */
const TOKEN = 'VIGIL_GATEWAY_TOKEN';

/** Claude Code of Anthropic. */
export const claudeCode: Adapter = {
  name: 'claude-code',
  invocation: claudeInvocation,
  hooks: claudeHooks,
  traitsOf: claudeTraitsOf,
  // https://code.claude.com/docs/en/settings and https://code.claude.com/docs/en/hooks
  install: {
    title: 'Claude Code',
    binary: 'claude',
    files: ({ cwd, home, env }) => ({
      project: join(cwd, '.claude', 'settings.json'),
      user: join(env.CLAUDE_CONFIG_DIR ?? join(home, '.claude'), 'settings.json'),
    }),
    command: (command, event) => ({
      type: 'command',
      command,
      timeout: ASKING.command.has(event) ? PEOPLE_SECONDS : COMMAND_SECONDS,
    }),
    http: (url, event) => ({
      type: 'http',
      url,
      timeout: ASKING.http.has(event) ? PEOPLE_SECONDS : HTTP_SECONDS,
      headers: { authorization: `Bearer $${TOKEN}`, 'vigil-agent': '$VIGIL_AGENT', 'vigil-task': '$VIGIL_TASK_ID' },
      allowedEnvVars: [TOKEN, 'VIGIL_AGENT', 'VIGIL_TASK_ID'],
    }),
    remains: null,
  },
  screen: claudeCodeScreen,
  typed: typedIntoClaudeCode,
  interrupt: ({ headless }) => (headless ? { kind: 'signal', signal: 'SIGINT' } : { kind: 'key', data: '\x1b' }),
  resume: claudeResume,
  stream: claudeStream,
  streamOptions: '--output-format stream-json --verbose',
  transcript: claudeTranscript,
  sessionFile: claudeSessionFile,
};
