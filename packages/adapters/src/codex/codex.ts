import type { Adapter } from '../adapter.ts';
import { codexInvocation, codexResume } from './command-line.ts';
import { codexHooks } from './hooks.ts';
import { codexInstall } from './install.ts';
import { codexScreen, typedIntoCodex } from './screen.ts';
import { codexStream } from './stream.ts';
import { codexTraitsOf } from './tools.ts';
import { codexSessionFile } from './transcript/session-file.ts';
import { codexTranscript } from './transcript/transcript.ts';

/** Read when it is needed: it would delay each hook at its start. */
const machineZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const transcript = codexTranscript(machineZone);

/** Codex of OpenAI. */
export const codex: Adapter = {
  name: 'codex',
  invocation: codexInvocation,
  hooks: codexHooks,
  traitsOf: codexTraitsOf,
  install: codexInstall,
  screen: codexScreen,
  typed: typedIntoCodex,
  interrupt: ({ headless }) => (headless ? { kind: 'signal', signal: 'SIGINT' } : { kind: 'key', data: '\x1b' }),
  resume: codexResume,
  stream: codexStream(machineZone),
  streamOptions: '--json',
  transcript,
  sessionFile: codexSessionFile(transcript),
};
