// Generated from packages/adapters/src/gemini-cli/gemini-cli.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { geminiInvocation, geminiResume } from './command-line.mjs';
import { geminiHooks } from './hooks.mjs';
import { geminiInstall } from './install.mjs';
import { geminiCliScreen, typedIntoGeminiCli } from './screen.mjs';
import { geminiSessionFile } from './session-file.mjs';
import { geminiStream } from './stream.mjs';
import { geminiTraitsOf } from './tools.mjs';
import { geminiTranscript } from './transcript.mjs';
/** Gemini CLI of Google. */
export const geminiCli          = {
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
