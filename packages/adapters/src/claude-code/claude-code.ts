import type { Adapter } from '../adapter.ts';
import { claudeInvocation, claudeResume } from './command-line.ts';
import { claudeHooks } from './hooks.ts';
import { claudeInstall } from './install.ts';
import { claudeCodeScreen, typedIntoClaudeCode } from './screen.ts';
import { claudeStream } from './stream.ts';
import { claudeTraitsOf } from './tools.ts';
import { claudeSessionFile } from './transcript/session-file.ts';
import { claudeTranscript } from './transcript/transcript.ts';

/** Claude Code of Anthropic. */
export const claudeCode: Adapter = {
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
