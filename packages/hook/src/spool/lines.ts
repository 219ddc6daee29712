import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';

/** A line that is not blank, and the byte offset behind it. */
export type Line = { readonly text: string; readonly end: number };

/** Whole lines of a file, and where the next reading begins. */
export type Lines = { readonly lines: readonly Line[]; readonly offset: number };

const NEWLINE = 0x0a;

/** A pipe without a writer would hold up an open that waits, and a device may act on being opened: the path is the client's word. */
const openRegular = (path: string): number => {
  if (!statSync(path).isFile()) throw new Error(`${path} is not a regular file`);
  return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
};

/** Bytes of the file from `offset` on, at most `mostBytes`. Throws where it cannot be read or is not a regular file. */
const bytesFrom = (path: string, offset: number, mostBytes: number): Buffer => {
  const file = openRegular(path);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    const length = Math.min(mostBytes, stat.size - offset);
    if (length <= 0) return Buffer.alloc(0);
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
  } finally {
    closeSync(file);
  }
};

const linesIn = (bytes: Buffer, offset: number): readonly Line[] => {
  const lines: Line[] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found + 1;
    const text = bytes.toString('utf8', start, end).trim();
    if (text !== '') lines.push({ text, end: offset + end });
    start = end;
  }
  return lines;
};

/**
 * The lines that are complete, from a byte offset on. A line that is longer than `mostBytes` is skipped, so that it never blocks those
 * behind it. A file that cannot be read has no lines.
 */
export const linesFrom = (path: string, offset: number, mostBytes: number): Lines => {
  let bytes: Buffer;
  try {
    bytes = bytesFrom(path, offset, mostBytes);
  } catch {
    return { lines: [], offset };
  }
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  if (end > 0) return { lines: linesIn(bytes.subarray(0, end), offset), offset: offset + end };
  return { lines: [], offset: bytes.length < mostBytes ? offset : offset + bytes.length };
};

/** The same, and a last line without its newline: no writer will complete it. */
export const lastLinesFrom = (path: string, offset: number, mostBytes: number): Lines => {
  const whole = linesFrom(path, offset, mostBytes);
  try {
    const rest = bytesFrom(path, whole.offset, mostBytes);
    if (rest.includes(NEWLINE)) return whole;
    return { lines: [...whole.lines, ...linesIn(rest, whole.offset)], offset: whole.offset + rest.length };
  } catch {
    return whole;
  }
};
