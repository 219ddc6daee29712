import type { Adapter, HookPayload } from './adapter.ts';
import { adapters } from './adapters.ts';
import { type AgentReport, newSession, observe, type SessionEvent } from './session/session.ts';

/** A report that an agent of a session would have sent, and its time, epoch milliseconds. */
export type RecordedReport = AgentReport & { readonly at: number };

/** `id`: null if the files do not name the session. The reports are in the order of time. */
export type RecordedSession = { readonly id: string | null; readonly reports: readonly RecordedReport[] };

/** The client whose session file has that entry; undefined if the entry does not show it. */
export const adapterOfEntry = (entry: HookPayload): Adapter | undefined =>
  adapters.find(({ sessionFile }) => sessionFile.isOf(entry));

type Read = { readonly id: string | null; readonly events: readonly SessionEvent[] };

const readFile = ({ sessionFile }: Adapter, lines: readonly string[]): Read => {
  let state = sessionFile.initial;
  let id: string | null = null;
  const events: SessionEvent[] = [];
  for (const line of lines) {
    const read = sessionFile.read(state, line);
    state = read.state;
    id ??= read.sessionId;
    events.push(...read.events);
  }
  return { id, events };
};

/** Reads the file of a session, and those of its sub-agents after it, as lines. */
export const recordedSession = (adapter: Adapter, files: readonly (readonly string[])[]): RecordedSession => {
  const read = files.map((lines) => readFile(adapter, lines));
  const events = read.flatMap((one) => one.events).sort((one, other) => one.at - other.at);
  const reports: RecordedReport[] = [];
  let session = newSession;
  for (const event of events) {
    const observed = observe(session, event);
    session = observed.session;
    for (const report of observed.reports) reports.push({ ...report, at: event.at });
  }
  return { id: read.find(({ id }) => id !== null)?.id ?? null, reports };
};
