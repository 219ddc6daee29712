import { join } from 'node:path';
import type { Adapter } from '../adapter.ts';
import { geminiInvocation, geminiResume } from './command-line.ts';
import { geminiHooks } from './hooks.ts';
import { geminiCliScreen, typedIntoGeminiCli } from './screen.ts';
import { geminiSessionFile } from './session-file.ts';
import { geminiStream } from './stream.ts';
import { geminiTraitsOf } from './tools.ts';
import { geminiTranscript } from './transcript.ts';

/** Milliseconds. */
const TIMEOUT = 5000;

/** Gemini CLI of Google. */
export const geminiCli: Adapter = {
  name: 'gemini-cli',
  invocation: geminiInvocation,
  hooks: geminiHooks,
  traitsOf: geminiTraitsOf,
  // https://geminicli.com/docs/hooks
  install: {
    title: 'Gemini CLI',
    binary: 'gemini',
    files: ({ cwd, home }) => ({
      project: join(cwd, '.gemini', 'settings.json'),
      user: join(home, '.gemini', 'settings.json'),
    }),
    command: (command) => ({ name: 'vigil', type: 'command', command, timeout: TIMEOUT }),
    http: null,
    remains: null,
  },
  screen: geminiCliScreen,
  typed: typedIntoGeminiCli,
  interrupt: ({ headless }) => (headless ? { kind: 'signal', signal: 'SIGINT' } : { kind: 'key', data: '\x1b' }),
  resume: geminiResume,
  stream: geminiStream,
  streamOptions: '--output-format stream-json',
  transcript: geminiTranscript,
  sessionFile: geminiSessionFile,
};
