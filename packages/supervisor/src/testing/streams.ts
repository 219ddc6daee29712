import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordedStreams } from '@vigil/adapters/recordings';

/** The arguments behind `claude -c SCRIPT`, and of the others, that ask for a stream of events: to a shell they are arguments of the script. */
const asksForStream = {
  claude: ['-p', '--output-format', 'stream-json', '--verbose'],
  codex: ['exec', '--json'],
  gemini: ['-p', 'do it', '-o', 'stream-json'],
} as const;

export type StreamingClient = keyof typeof asksForStream;

const adapterOf = { claude: 'claude-code', codex: 'codex', gemini: 'gemini-cli' } as const;

/** A shell under the name of a client, and what follows its script so that the command line asks for a stream. */
export const streaming = (dir: string, client: StreamingClient): readonly [string, ...string[]] => {
  const path = join(dir, client);
  if (!existsSync(path)) symlinkSync('/bin/sh', path);
  return [path, ...asksForStream[client]];
};

/** The lines that a real client has printed. */
export const recordedLines = (client: StreamingClient, run: string): readonly string[] => {
  const lines = (recordedStreams(adapterOf[client]).get(run) ?? []).map(({ line }) => line);
  if (lines.length === 0) throw new Error(`no stream of ${client} is recorded as ${run}`);
  return lines;
};

/** A command that prints these lines. */
export const printing = (dir: string, name: string, lines: readonly string[]): string => {
  const path = join(dir, name);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  return `cat ${path}`;
};
