// Generated from packages/adapters/src/claude-code/claude-code.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { claudeInvocation, claudeResume } from './command-line.mjs';
import { claudeHooks } from './hooks.mjs';
import { claudeInstall } from './install.mjs';
import { claudeCodeScreen, typedIntoClaudeCode } from './screen.mjs';
import { claudeSessionFile } from './session-file.mjs';
import { claudeStream } from './stream.mjs';
import { claudeTraitsOf } from './tools.mjs';
import { claudeTranscript } from './transcript.mjs';
/** Claude Code of Anthropic. */
export const claudeCode          = {
  name: 'claude-code',
  invocation: claudeInvocation,
  hooks: claudeHooks,
  traitsOf: claudeTraitsOf,
  install: claudeInstall,
  screen: claudeCodeScreen,
  typed: typedIntoClaudeCode,
  interrupt: ({ headless }) => (headless ? { kind: 'signal', signal: 'SIGINT' } : { kind: 'key', data: '\x1b' }),
  resume: claudeResume,
  stream: claudeStream,
  streamOptions: '--output-format stream-json --verbose',
  transcript: claudeTranscript,
  sessionFile: claudeSessionFile,
};
