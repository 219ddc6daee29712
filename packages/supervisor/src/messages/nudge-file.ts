import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Push } from './agent-socket.ts';

/** A file in which an agent reads its messages: JSON Lines as on its socket, or plain lines. */
export type NudgeFile = { readonly path: string; readonly format: 'jsonl' | 'text' };

const { O_APPEND, O_CREAT, O_WRONLY, O_NONBLOCK } = constants;

const lineOf = (format: NudgeFile['format'], message: Push, text: string): string =>
  format === 'jsonl' ? `${JSON.stringify(message)}\n` : `${text.replace(/\s*[\r\n]+\s*/g, ' ')}\n`;

/** One write of one whole line, so that a reader never sees half of it. @throws where its folder is missing, the write fails, or the file is a pipe without a reader */
export const appendTo = ({ path, format }: NudgeFile, message: Push, text: string): void => {
  const line = Buffer.from(lineOf(format, message, text));
  const file = openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600);
  try {
    const written = writeSync(file, line);
    if (written < line.length) throw new Error(`${path} took ${written} of ${line.length} bytes; is the disk full?`);
  } finally {
    closeSync(file);
  }
};
