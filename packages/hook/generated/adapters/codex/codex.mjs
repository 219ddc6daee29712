// Generated from packages/adapters/src/codex/codex.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { codexInvocation, codexResume } from './command-line.mjs';
import { codexHooks } from './hooks.mjs';
import { codexInstall } from './install.mjs';
import { codexScreen, typedIntoCodex } from './screen.mjs';
import { codexSessionFile } from './session-file.mjs';
import { codexStream } from './stream.mjs';
import { codexTraitsOf } from './tools.mjs';
import { codexTranscript } from './transcript.mjs';
/** Read when it is needed: it would delay each hook at its start. */
const machineZone = ()         => new Intl.DateTimeFormat().resolvedOptions().timeZone;
const transcript = codexTranscript(machineZone);
/** Codex of OpenAI. */
export const codex          = {
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
