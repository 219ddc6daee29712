// Generated from packages/hook/src/transcript.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { statSync } from 'node:fs';
import { linesFrom } from './lines.mjs';
/** How far a transcript has been read, and what its reader knows. Plain JSON. */
/** Bytes that are read in one look, so that a large transcript holds nothing up. */
const mostBytes = 1 << 20;
const sizeOf = (path        )         => {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
};
/** What the lines of an earlier instance come to: its last bytes are read. */
const resumedState = (path        , size        , reader        )          => {
  const { lines } = linesFrom(path, Math.max(0, size - mostBytes), mostBytes);
  return reader.resumed(lines.reduce((state, { text }) => reader.read(state, text).state, reader.initial));
};
/** A transcript that begins now. `isResumed`: what stands in it was counted for an earlier instance. */
const newTranscript = (path        , reader        , isResumed         )                 => {
  if (!isResumed) return { path, offset: 0, state: reader.initial };
  const size = sizeOf(path);
  return { path, offset: size, state: resumedState(path, size, reader) };
};
/** A transcript after a look, and the events in its new lines, of the agent that it is about. */
const readTranscript = (
  mark                ,
  agent               ,
  reader        ,
)                                                                              => {
  const { lines, offset } = linesFrom(mark.path, mark.offset, mostBytes);
  let { state } = mark;
  const events                 = [];
  for (const { text } of lines) {
    const read = reader.read(state, text);
    state = read.state;
    events.push(...read.events.map((event) => (agent === null ? event : { ...event, agent })));
  }
  return { mark: { ...mark, offset, state }, events };
};
/** How far the transcripts of a session have been read; by the client's id of the sub-agent, '' for the session's own agent. */
const isResumed = ({ events }             )          =>
  events.some((event) => event.kind === 'session_started' && event.source === 'resume');
/** With the files that a record names for the first time. */
export const withTranscripts = (before       , record             , reader        )        =>
  record.transcripts.reduce((marks, { agent, path }) => {
    const name = agent ?? '';
    if (marks[name]?.path === path) return marks;
    return { ...marks, [name]: newTranscript(path, reader, isResumed(record)) };
  }, before);
/** Files of the agents that the session has: of another one, nothing counts before its start is reported. */
export const ofKnownAgents = (marks       , { subagents }              )        =>
  Object.fromEntries(Object.entries(marks).filter(([name]) => name === '' || Object.hasOwn(subagents, name)));
/** The marks after a look, the same object where nothing is new, and the events in between. */
export const readTranscripts = (
  before       ,
  reader        ,
)                                                                      =>
  Object.entries(before).reduce                                                                     (
    (so, [name, mark]) => {
      const read = readTranscript(mark, name === '' ? null : name, reader);
      if (read.mark.offset === mark.offset) return so;
      return { marks: { ...so.marks, [name]: read.mark }, events: [...so.events, ...read.events] };
    },
    { marks: before, events: [] },
  );
