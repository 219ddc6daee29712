import type { Adapter, HookPayload } from './adapter.ts';
import { adapters } from './adapters.ts';
import { type AgentReport, newSession, observe, type SessionEvent } from './session/session.ts';
import { type AgentState, agentOf } from './session/state.ts';
import { instantAt, parseLine } from './shared/payload.ts';

/** A report that an agent of a session would have sent, and its time, epoch milliseconds. */
export type RecordedReport = AgentReport & { readonly at: number };

/**
 * `id`: null if the files do not name the session. The reports are in the order of time. `finished`: the agents whose
 * last turn ended by itself; null for the session's own agent.
 */
export type RecordedSession = {
  readonly id: string | null;
  readonly reports: readonly RecordedReport[];
  readonly finished: readonly (string | null)[];
};

/** `isTimed` false: the times are counted, because nothing in the file has one. */
export type PrintedSession = RecordedSession & { readonly isTimed: boolean };

/** The client whose session file has that entry; undefined if the entry does not show it. */
export const adapterOfEntry = (entry: HookPayload): Adapter | undefined =>
  adapters.find(({ sessionFile }) => sessionFile.isOf(entry));

/** The client that prints that entry; undefined if the entry does not show it. */
export const adapterOfPrinted = (entry: HookPayload): Adapter | undefined =>
  adapters.find(({ stream }) => stream.isOf(entry));

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
  return { id: read.find(({ id }) => id !== null)?.id ?? null, ...reportsOf(events, 'recorded') };
};

/** `ends`: whether the source records the ends of turns, or its calls and answers imply them. */
type Ends = 'recorded' | 'implied';

/** The reports that follow from events, in their order, and the agents that have finished. */
export const reportsOf = (events: readonly SessionEvent[], ends: Ends): Omit<RecordedSession, 'id'> => {
  const reports: RecordedReport[] = [];
  let session = newSession;
  for (const event of events) {
    const observed = observe(session, event);
    session = observed.session;
    for (const report of observed.reports) reports.push({ ...report, at: event.at });
  }
  const byAgent = Map.groupBy(events, ({ agent }) => agent);
  const finished = [...byAgent].flatMap(([agent, own]) =>
    isAtRest(agentOf(session, agent)) && ENDED[ends](own.map(({ kind }) => kind)) ? [agent] : [],
  );
  return { reports, finished };
};

/** Whether nothing of an agent is in flight and nothing stops its next answer. */
const isAtRest = ({ ended, open, obstacle }: AgentState): boolean =>
  !ended && obstacle === null && Object.keys(open).length === 0;

type Kind = SessionEvent['kind'];

const OF_TURNS: readonly Kind[] = ['turn_started', 'turn_ended', 'turn_failed', 'turn_interrupted', 'model_answers'];
const OF_WORK: readonly Kind[] = ['model_answers', 'call_started', 'call_ended', 'turn_failed', 'turn_interrupted'];

const lastOf = (kinds: readonly Kind[], among: readonly Kind[]): Kind | undefined =>
  kinds.findLast((kind) => among.includes(kind));

/**
 * Whether the last turn ended by itself, from the kinds of its events. Telemetry has no ends of turns: an answer after
 * the last call implies one, or, without any answers, the end of the last call.
 */
const ENDED: Readonly<Record<Ends, (kinds: readonly Kind[]) => boolean>> = {
  recorded: (kinds) => lastOf(kinds, [...OF_TURNS, ...OF_WORK]) === 'turn_ended',
  implied: (kinds) => lastOf(kinds, OF_WORK) === (kinds.includes('model_answers') ? 'model_answers' : 'call_ended'),
};

/** The time of the first line where no line has one. */
const BEGIN = Date.UTC(2026, 0, 1);

/**
 * Reads the output stream of a client, as lines. A line with another session id begins another session. Lines without a
 * time have that of the line before. If no line has one, calls end `gapMs` apart.
 */
export const printedSessions = (
  { stream }: Adapter,
  lines: readonly string[],
  gapMs: number,
): readonly PrintedSession[] => {
  const times = lines.map((line) => instantAt(parseLine(line), 'timestamp'));
  const first = times.find((time) => time !== null) ?? null;
  const sessions: { id: string | null; readonly events: SessionEvent[] }[] = [];
  let now = first ?? BEGIN;
  let state = stream.initial;
  for (const [i, line] of lines.entries()) {
    now = Math.max(now, times[i] ?? now);
    let read = stream.read(state, line, now);
    const known = sessions.at(-1);
    const isOther = read.sessionId !== null && known?.id != null && read.sessionId !== known.id;
    if (isOther) read = stream.read(stream.initial, line, now);
    state = read.state;
    if (known === undefined || isOther) sessions.push({ id: read.sessionId, events: [...read.events] });
    else {
      known.id ??= read.sessionId;
      known.events.push(...read.events);
    }
    if (first === null && read.events.some(({ kind }) => kind === 'call_ended')) now += gapMs;
  }
  return sessions.map(({ id, events }) => ({ id, ...reportsOf(events, 'recorded'), isTimed: first !== null }));
};
