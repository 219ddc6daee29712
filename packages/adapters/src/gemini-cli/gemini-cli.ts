import type { Adapter } from '../adapter.ts';
import { geminiInvocation, geminiResume } from './command-line.ts';
import { geminiHooks } from './hooks.ts';
import { geminiInstall } from './install.ts';
import { geminiCliScreen, typedIntoGeminiCli } from './screen.ts';
import { geminiStream } from './stream.ts';
import { geminiTraitsOf } from './tools.ts';
import { geminiSessionFile } from './transcript/session-file.ts';
import { geminiTranscript } from './transcript/transcript.ts';

/** Gemini CLI of Google. */
export const geminiCli: Adapter = {
  name: 'gemini-cli',
  invocation: geminiInvocation,
  hooks: geminiHooks,
  traitsOf: geminiTraitsOf,
  install: geminiInstall,
  screen: geminiCliScreen,
  typed: typedIntoGeminiCli,
  interrupt: ({ headless }) => (headless ? { kind: 'signal', signal: 'SIGINT' } : { kind: 'key', data: '\x1b' }),
  resume: geminiResume,
  stream: geminiStream,
  streamOptions: '--output-format stream-json',
  transcript: geminiTranscript,
  sessionFile: geminiSessionFile,
};
