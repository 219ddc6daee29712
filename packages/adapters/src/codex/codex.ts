import { join } from 'node:path';
import type { Adapter } from '../adapter.ts';
import { codexInvocation, codexResume } from './command-line.ts';
import { codexHooks } from './hooks.ts';
import { codexScreen, typedIntoCodex } from './screen.ts';
import { codexSessionFile } from './session-file.ts';
import { codexStream } from './stream.ts';
import { codexTraitsOf } from './tools.ts';
import { codexTranscript } from './transcript.ts';

/** Seconds. */
const TIMEOUT = 5;
/** A hook that waits for people ends by itself, after an hour at most. Seconds. */
const PEOPLE_TIMEOUT = 3660;

/** Read on demand, because it would delay the start of each hook. */
const machineZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const transcript = codexTranscript(machineZone);

/** Codex of OpenAI. */
export const codex: Adapter = {
  name: 'codex',
  invocation: codexInvocation,
  hooks: codexHooks,
  traitsOf: codexTraitsOf,
  // https://developers.openai.com/codex/hooks
  install: {
    title: 'Codex',
    binary: 'codex',
    files: ({ cwd, home, env }) => ({
      project: join(cwd, '.codex', 'hooks.json'),
      user: join(env.CODEX_HOME ?? join(home, '.codex'), 'hooks.json'),
    }),
    command: (command, event) => ({
      type: 'command',
      command,
      timeout: event === 'PermissionRequest' ? PEOPLE_TIMEOUT : TIMEOUT,
    }),
    http: null,
    remains:
      'Codex does not run a hook that you have not trusted: start codex here, and trust it where codex asks, or later under /hooks',
  },
  screen: codexScreen,
  typed: typedIntoCodex,
  interrupt: ({ headless }) => (headless ? { kind: 'signal', signal: 'SIGINT' } : { kind: 'key', data: '\x1b' }),
  resume: codexResume,
  stream: codexStream(machineZone),
  streamOptions: '--json',
  transcript,
  sessionFile: codexSessionFile(transcript),
};
