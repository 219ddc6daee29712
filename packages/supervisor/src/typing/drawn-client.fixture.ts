import { asPaste } from '@vigil/adapters';
import type { ScreenMeaning, ScreenView } from '@vigil/adapters/adapter';
import type { AgentDeps } from '../deps.ts';
import { noStream } from '../testing/simulated-client.ts';

const meaningOf = ({ lines, cursor }: ScreenView): ScreenMeaning => {
  const line = lines[cursor.row] ?? '';
  if (line.startsWith('ASK ')) return { kind: 'dialog', wait: 'permission', text: line.slice(4) };
  if (line.startsWith('RETRY ')) return { kind: 'retrying', text: line, limit: { retryInMs: null } };
  if (line.startsWith('WORK')) return { kind: 'working' };
  if (!line.startsWith('> ')) return { kind: 'unknown' };
  return { kind: 'prompt', pending: line.slice(2).trim() || null, turnOver: true };
};

/** The adapter of the program below, which `node` starts. */
export const drawnClient = (headless: boolean): AgentDeps['clients'][number] => ({
  name: 'drawn-client',
  invocation: ({ args }) =>
    args.join(' ').includes('drawn-client') ? { headless, streamsEvents: false, printsProgress: false } : null,
  screen: meaningOf,
  typed: asPaste(/^\[a long paste\]$/),
  interrupt: () => ({ kind: 'key', data: 'e' }),
  resume: () => null,
  stream: noStream,
});

/**
 * A program that draws a client in raw mode: a prompt, and a dialog that opens at the start, or when a text is
 * pasted. Its input is appended to a file: a paste as `paste:`, everything else as `key:`.
 * The key y answers its dialog.
 */
export const drawnClientScript = (file: string, dialog: 'at_start' | 'at_paste' | 'never'): string => `exec node -e '
  // drawn-client
  const { appendFileSync } = require("node:fs");
  const note = (text) => appendFileSync(${JSON.stringify(file)}, text + "\\n");
  let [text, asks, works] = ["", ${dialog === 'at_start'}, false];
  const draw = () => process.stdout.write("\\x1b[2J\\x1b[H" + (asks ? "ASK Run it?" : works ? "WORK " : "> " + text));
  process.stdin.setRawMode(true);
  process.stdout.write("\\x1b[?1049h\\x1b[?2004h");
  draw();
  process.stdin.on("data", (data) => {
    for (const [, pasted, key] of String(data).matchAll(/\\x1b\\[200~(.*?)\\x1b\\[201~|([^])/g)) {
      note(pasted === undefined ? "key:" + JSON.stringify(key) : "paste:" + pasted);
      if (pasted !== undefined && ${dialog === 'at_paste'}) asks = true;
      else if (pasted !== undefined && !asks) text += pasted;
      else if (key === "y") asks = false;
      else if (key === "\\r" && !asks) [works, text] = [true, ""];
      else if (key === "e") works = false;
      draw();
    }
  });
'`;

/** The same, which retries a request because of a limit. */
export const RETRYING_CLIENT_SCRIPT: string = `exec node -e '
  // drawn-client
  process.stdin.setRawMode(true);
  process.stdout.write("\\x1b[?1049h\\x1b[?2004h\\x1b[2J\\x1b[HRETRY 529");
  setInterval(() => {}, 1e6);
'`;
