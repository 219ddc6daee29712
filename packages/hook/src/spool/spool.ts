import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Transcript } from '@vigil/adapters/adapter';
import { parseLine } from '@vigil/adapters/payload';
import type { SessionEvent } from '@vigil/adapters/session';
import { type Line, lastLinesFrom, linesFrom } from './lines.ts';

/** One hook event on the disk: facts without content. */
export type SpoolRecord = {
  /** unique */
  readonly id: string;
  /** name of the adapter */
  readonly client: string;
  /** the client's id of the session; null: unknown */
  readonly session: string | null;
  readonly transcripts: readonly Transcript[];
  /** the answer of this hook can carry a text, or refuse the call that begins */
  readonly takesText: boolean;
  readonly canRefuse: boolean;
  /** a text in its answer continues a turn that would have ended */
  readonly continuesTurn: boolean;
  readonly events: readonly SessionEvent[];
};

/** Bytes that are read at once. */
const MOST_BYTES = 1 << 20;

/** The file of a session within a spool folder. */
export const spoolFile = (client: string, session: string | null): string =>
  `${createHash('sha256')
    .update(`${client} ${session ?? ''}`)
    .digest('hex')
    .slice(0, 32)}.jsonl`;

/** mkdirSync's own `recursive` never ends where the file system takes no folder, as /proc does not. Throws there. */
export const makeFolder = (path: string, hasParent = false): void => {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || hasParent) throw error;
    makeFolder(dirname(path));
    makeFolder(path, true);
  }
};

/**
 * Appends a record by one write, so that concurrent hooks need no lock. A newline on either side makes a torn record
 * (the disk was full) a separate line, which alone is dropped.
 * Throws if the disk is full.
 */
export const append = (path: string, record: SpoolRecord): void => {
  const line = `\n${JSON.stringify(record)}\n`;
  try {
    appendFileSync(path, line, { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeFolder(dirname(path));
    appendFileSync(path, line, { mode: 0o600 });
  }
};

const isRecord = (fields: Readonly<Record<string, unknown>>): boolean => {
  const { id, client, session, events, transcripts } = fields;
  return (
    typeof id === 'string' &&
    typeof client === 'string' &&
    (session === null || typeof session === 'string') &&
    Array.isArray(events) &&
    Array.isArray(transcripts)
  );
};

/** A record, and the byte offset behind it. */
export type Entry = { readonly record: SpoolRecord; readonly end: number };

const entriesIn = (lines: readonly Line[]): readonly Entry[] =>
  lines.flatMap(({ text, end }) => {
    const record = parseLine(text);
    return record !== null && isRecord(record) ? [{ record: record as SpoolRecord, end }] : [];
  });

/** Records of one file, and where the next reading begins. */
export type Reading = { readonly entries: readonly Entry[]; readonly offset: number };

/** The records from a byte offset on, in the order in which they were appended. `isOver`: no hook runs any more. */
export const readSpool = (path: string, from: number, isOver: boolean): Reading => {
  const entries: Entry[] = [];
  for (let offset = from; ; ) {
    const read = (isOver ? lastLinesFrom : linesFrom)(path, offset, MOST_BYTES);
    entries.push(...entriesIn(read.lines));
    if (read.offset === offset) return { entries, offset };
    offset = read.offset;
  }
};

/** The files of a spool folder; empty if there is no folder yet. */
export const spoolFiles = (dir: string): readonly string[] => {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith('.jsonl'))
      .sort();
  } catch {
    return [];
  }
};
