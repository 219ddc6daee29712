import { statSync } from 'node:fs';
import type { Adapter } from '@vigil/adapters/adapter';
import type { SessionEvent, SessionState } from '@vigil/adapters/session';
import { linesFrom } from '../spool/lines.ts';
import type { SpoolRecord } from '../spool/spool.ts';

/** How far a transcript has been read, and its reader's state. Plain JSON. */
export type TranscriptMark = { readonly path: string; readonly offset: number; readonly state: unknown };

/** Bytes that are read in one look, so that a large transcript holds nothing up. */
const MOST_BYTES = 1 << 20;

const sizeOf = (path: string): number => {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
};

type Reader = Adapter['transcript'];

/** What the lines of an earlier instance come to: its last bytes are read. */
const resumedState = (path: string, size: number, reader: Reader): unknown => {
  const { lines } = linesFrom(path, Math.max(0, size - MOST_BYTES), MOST_BYTES);
  return reader.resumed(lines.reduce((state, { text }) => reader.read(state, text).state, reader.initial));
};

/** A transcript that begins now. `isResumed`: its present lines were counted for an earlier instance. */
const newTranscript = (path: string, reader: Reader, isResumed: boolean): TranscriptMark => {
  if (!isResumed) return { path, offset: 0, state: reader.initial };
  const size = sizeOf(path);
  return { path, offset: size, state: resumedState(path, size, reader) };
};

/** A transcript after a look, and the events in its new lines, of the agent that it is about. */
const readTranscript = (
  mark: TranscriptMark,
  agent: string | null,
  reader: Reader,
): { readonly mark: TranscriptMark; readonly events: readonly SessionEvent[] } => {
  const { lines, offset } = linesFrom(mark.path, mark.offset, MOST_BYTES);
  let { state } = mark;
  const events: SessionEvent[] = [];
  for (const { text } of lines) {
    const read = reader.read(state, text);
    state = read.state;
    events.push(...read.events.map((event) => (agent === null ? event : { ...event, agent })));
  }
  return { mark: { ...mark, offset, state }, events };
};

/** How far the transcripts of a session have been read; by the client's id of the sub-agent, '' for the session's own agent. */
export type Marks = Readonly<Record<string, TranscriptMark>>;

const isResumed = ({ events }: SpoolRecord): boolean =>
  events.some((event) => event.kind === 'session_started' && event.source === 'resume');

/** With the files that a record names for the first time. */
export const withTranscripts = (before: Marks, record: SpoolRecord, reader: Reader): Marks =>
  record.transcripts.reduce((marks, { agent, path }) => {
    const name = agent ?? '';
    if (marks[name]?.path === path) return marks;
    return { ...marks, [name]: newTranscript(path, reader, isResumed(record)) };
  }, before);

/** Files of the agents that the session has: of another one, nothing counts before its start is reported. */
export const ofKnownAgents = (marks: Marks, { subagents }: SessionState): Marks =>
  Object.fromEntries(Object.entries(marks).filter(([name]) => name === '' || Object.hasOwn(subagents, name)));

/** The marks after a read, the same object if nothing is new, and the events in between. */
export const readTranscripts = (
  before: Marks,
  reader: Reader,
): { readonly marks: Marks; readonly events: readonly SessionEvent[] } =>
  Object.entries(before).reduce<{ readonly marks: Marks; readonly events: readonly SessionEvent[] }>(
    (so, [name, mark]) => {
      const read = readTranscript(mark, name === '' ? null : name, reader);
      if (read.mark.offset === mark.offset) return so;
      return { marks: { ...so.marks, [name]: read.mark }, events: [...so.events, ...read.events] };
    },
    { marks: before, events: [] },
  );
