import { join } from 'node:path';
import { adapterNamed } from '@vigil/adapters';
import type { AgentReport, SessionEvent } from '@vigil/adapters/session';
import { agentsWithOverdueOutcomes, isBusy, withoutUsage } from '@vigil/adapters/session';
import type { BreakerReport } from '@vigil/events';
import { type AskAtStop, askedAtStop, NO_PROOF, questionAtStop } from '@vigil/health/proof';
import { breakerReports, closedByOrder, noBreakers } from '@vigil/hook/breakers';
import { type Fold, type Folded, foldEvent, foldRecord, newFold, type RefusalOf } from '@vigil/hook/fold';
import { readSpool, type SpoolRecord, spoolFile, spoolFiles } from '@vigil/hook/spool';
import { type Marks, ofKnownAgents, readTranscripts, withTranscripts } from '@vigil/hook/transcript';
import { type Used, usedIn } from '../agent/spending-limit.ts';
import type { Logger } from '../clock.ts';

/** The source of a session's reports: the hooks of its client, or the lines that the client itself prints. */
export type SessionSource = 'hooks' | 'output';

/** One session of a coding agent's client. Plain JSON. */
export type KnownSession = {
  readonly source: SessionSource;
  readonly client: string;
  /** the client's id of the session; null: unknown */
  readonly id: string | null;
  readonly fold: Fold;
  readonly transcripts: Marks;
};

/** What the spool and the output of an agent come to. Plain JSON; sessions and offsets by the file of the spool. */
export type SessionsMemory = {
  readonly offsets: Readonly<Record<string, number>>;
  readonly sessions: Readonly<Record<string, KnownSession>>;
  /** the session that the agent is; null: none is reported yet */
  readonly current: string | null;
  /** sessions that the agent has been before, in the same process; not every note has them */
  readonly earlier?: readonly string[] | undefined;
};

export const noSessions: SessionsMemory = { offsets: {}, sessions: {}, current: null, earlier: [] };

/** The reader of a client's transcripts; undefined: there is no adapter for the client. */
const readerOf = (client: string) => adapterNamed(client)?.transcript;

/** What a hook is answered about its record. */
export type HookQuestion = {
  readonly takesText: boolean;
  readonly refusal: string | null;
  /** what the agent is asked before its turn ends; null: nothing */
  readonly question: string | null;
};

export type AgentSessionsDeps = {
  /** the spool folder, VIGIL_SPOOL of the agent */
  readonly dir: string;
  readonly memory: SessionsMemory;
  readonly logger: Logger;
  /** why a call is not to be made, beside the circuit breakers; null: it may be made */
  readonly refusalOf: RefusalOf;
  /** the question that the policy sets for the end of a turn; null: none */
  readonly askAtStop: () => AskAtStop | null;
  /** `isCurrent`: of the session that the agent is, not of one that it runs within itself */
  readonly onReport: (report: AgentReport, session: KnownSession, file: string, isCurrent: boolean) => void;
};

/** Hooks that may still ask about their record. */
const MOST_QUESTIONS = 100;

const startsWork = ({ events }: SpoolRecord): boolean =>
  events.some(({ kind, agent }) => agent === null && (kind === 'session_started' || kind === 'turn_started'));

const newSession = (client: string, id: string | null, source: SessionSource): KnownSession => ({
  source,
  client,
  id,
  fold: newFold,
  transcripts: {},
});

/**
 * Hooks continue where the output was: calls in flight stay, and end once. The file of the session counts all its tokens, so those that
 * the output has counted are forgotten.
 */
const reportedByHooks = (known: KnownSession): KnownSession => {
  if (known.source === 'hooks') return known;
  const { session } = known.fold;
  return { ...known, source: 'hooks', fold: { session: withoutUsage(session), breakers: noBreakers } };
};

/** Events that no hook waits for. */
const foldEvents = (fold: Fold, events: readonly SessionEvent[]): Folded =>
  events.reduce<Folded>(
    (so, event) => {
      const one = foldEvent(so.fold, event);
      return { ...one, reports: [...so.reports, ...one.reports] };
    },
    { fold, reports: [], refusal: null },
  );

/** Idle sessions whose calls are remembered, the newest: their hooks may still report late. Of earlier ones only the use and the files are. */
const MOST_RECALLED = 20;

const withoutCalls = (known: KnownSession): KnownSession => {
  const { main } = known.fold.session;
  const session = { main: { ...main, endedCalls: [], seenEnds: [], counted: [] }, subagents: {} };
  return { ...known, fold: { session, breakers: noBreakers } };
};

/** Another session may follow in the same process. */
export const hasEnded = ({ fold }: KnownSession): boolean => fold.session.main.ended;

/**
 * The sessions of one agent: reads the records that hooks append to the spool and the output of its client, and
 * reports the resulting facts, each once.
 * Hooks are preferred: from the first record of a hook on, the output of the same session is not counted.
 */
export class AgentSessions {
  readonly #deps: AgentSessionsDeps;
  readonly #questions = new Map<string, HookQuestion>();
  #memory: SessionsMemory;

  constructor(deps: AgentSessionsDeps) {
    this.#deps = deps;
    this.#memory = deps.memory;
  }

  get memory(): SessionsMemory {
    return this.#memory;
  }

  /** The session that the agent is; null: none is reported yet. */
  get current(): KnownSession | null {
    const { current, sessions } = this.#memory;
    return current === null ? null : (sessions[current] ?? null);
  }

  /** What the agent has used in each session that it has been. */
  get used(): readonly Used[] {
    const { current, earlier, sessions } = this.#memory;
    const own = [...(earlier ?? []), ...(current === null ? [] : [current])];
    return own.flatMap((name) => {
      const known = sessions[name];
      return known === undefined ? [] : [usedIn(known.fold.session)];
    });
  }

  /** As heartbeats report them; none where no hook can refuse a call. */
  get breakers(): readonly BreakerReport[] {
    const known = this.current;
    return known?.source === 'hooks' ? breakerReports(known.fold.breakers) : [];
  }

  /** Closes the breaker of that name; false: the session holds none. */
  resetBreaker(name: string): boolean {
    const { current } = this.#memory;
    const known = this.current;
    if (current === null || known?.source !== 'hooks') return false;
    const breakers = closedByOrder(known.fold.breakers, name);
    if (breakers === undefined) return false;
    this.#keep(current, { ...known, fold: { ...known.fold, breakers } });
    return true;
  }

  /** Of a record that has been read; undefined: it has not. */
  question(id: string): HookQuestion | undefined {
    return this.#questions.get(id);
  }

  /** Reads the records that hooks have appended since. `isOver`: the agent has ended, and no hook runs any more. */
  read(isOver = false): void {
    for (const name of spoolFiles(this.#deps.dir)) this.#readFile(name, isOver);
  }

  /** Reads what the transcripts hold since. A call whose outcome is in none of them after a while ends as its hook reported it. */
  readTranscripts(now: number): void {
    for (const [name, known] of Object.entries(this.#memory.sessions)) {
      this.#readTranscripts(name, known);
      this.#endOverdue(name, now);
    }
  }

  #endOverdue(name: string, now: number): void {
    const known = this.#memory.sessions[name];
    if (known === undefined) return;
    const overdue = agentsWithOverdueOutcomes(known.fold.session, now);
    if (overdue.length === 0) return;
    const events = overdue.map((agent) => ({ kind: 'outcomes_overdue', at: now, agent }) as const);
    this.#take(name, known, foldEvents(known.fold, events));
  }

  /** Facts that the agent's own client has printed. What hooks of the session have spooled by then is read before. */
  printed(client: string, id: string, events: readonly SessionEvent[]): void {
    const name = spoolFile(client, id);
    if (this.#isReportedByHooks(name)) return;
    this.read();
    if (this.#isReportedByHooks(name)) return;
    const known = this.#memory.sessions[name] ?? newSession(client, id, 'output');
    const folded = foldEvents(known.fold, events);
    this.#become(name);
    this.#take(name, known, folded);
  }

  #isReportedByHooks(name: string): boolean {
    return this.#memory.sessions[name]?.source === 'hooks';
  }

  /** A fact about the current session that no hook reports, as its screen shows it. */
  add(event: SessionEvent): void {
    const { current } = this.#memory;
    const known = this.current;
    if (current === null || known === null) return;
    this.#take(current, known, foldEvent(known.fold, event));
  }

  #readFile(name: string, isOver: boolean): void {
    const from = this.#memory.offsets[name] ?? 0;
    const { entries, offset } = readSpool(join(this.#deps.dir, name), from, isOver);
    for (const { record, end } of entries) {
      this.#fold(name, record);
      this.#setOffset(name, end);
    }
    if (offset !== from) this.#setOffset(name, offset);
  }

  #setOffset(name: string, offset: number): void {
    this.#memory = { ...this.#memory, offsets: { ...this.#memory.offsets, [name]: offset } };
  }

  #fold(name: string, record: SpoolRecord): void {
    const { client, session: id } = record;
    const before = this.#memory.sessions[name];
    const session = before === undefined ? newSession(client, id, 'hooks') : reportedByHooks(before);
    try {
      const reader = readerOf(client);
      const transcripts = reader ? withTranscripts(session.transcripts, record, reader) : session.transcripts;
      // Entries from before a hook started are folded before its events. They hold the exit code of a command whose end
      // it reports, and the tokens that reach a limit before its call is made.
      const earlier = ofKnownAgents(transcripts, session.fold.session);
      const known = this.#readTranscripts(name, { ...session, transcripts }, earlier);
      const folded = foldRecord(known.fold, record, this.#deps.refusalOf);
      this.#elect(name, record);
      this.#take(name, known, folded);
      this.#ask(name, record, folded);
    } catch (error) {
      // A program of the agent's can write there, too: one bad record spoils no other.
      this.#deps.logger('a record in the spool of hooks is not understood', { id: record.id, error: String(error) });
      return;
    }
    const after = this.#memory.sessions[name];
    if (after !== undefined) this.#readTranscripts(name, after);
  }

  /** A session that begins while another one works is part of that one's work. */
  #elect(name: string, record: SpoolRecord): void {
    const { current } = this.#memory;
    if (current === name) return;
    const known = this.current;
    if (known !== null && !hasEnded(known) && (isBusy(known.fold.session) || !startsWork(record))) return;
    this.#become(name);
  }

  #become(name: string): void {
    const { current, earlier = [] } = this.#memory;
    if (current === name) return;
    const before = current === null ? earlier : [...earlier, current];
    this.#memory = { ...this.#memory, current: name, earlier: before.filter((one) => one !== name) };
  }

  #ask(name: string, { id, takesText, continuesTurn }: SpoolRecord, { refusal, fold }: Folded): void {
    const { proof = NO_PROOF } = fold;
    const question = continuesTurn ? questionAtStop(proof, this.#deps.askAtStop()) : null;
    const known = this.#memory.sessions[name];
    if (question !== null && known !== undefined)
      this.#keep(name, { ...known, fold: { ...known.fold, proof: askedAtStop(proof) } });
    this.#questions.set(id, { takesText, refusal, question });
    const [oldest] = this.#questions.keys();
    if (this.#questions.size > MOST_QUESTIONS && oldest !== undefined) this.#questions.delete(oldest);
  }

  /** The session after a look into these of its files. */
  #readTranscripts(name: string, known: KnownSession, files: Marks = known.transcripts): KnownSession {
    const reader = readerOf(known.client);
    const { marks, events } = reader ? readTranscripts(files, reader) : { marks: files, events: [] };
    if (marks === files) return known;
    this.#take(name, { ...known, transcripts: { ...known.transcripts, ...marks } }, foldEvents(known.fold, events));
    return this.#memory.sessions[name] ?? known;
  }

  #take(name: string, known: KnownSession, { fold, reports }: Folded): void {
    const after = { ...known, fold };
    this.#keep(name, after);
    for (const report of reports) this.#deps.onReport(report, after, name, name === this.#memory.current);
  }

  #keep(name: string, known: KnownSession): void {
    if (this.#memory.sessions[name] === undefined) this.#forgetCalls();
    this.#memory = { ...this.#memory, sessions: { ...this.#memory.sessions, [name]: known } };
  }

  /** A wrapper may start thousands of sessions in one process. */
  #forgetCalls(): void {
    const { current, sessions } = this.#memory;
    const idle = Object.entries(sessions).filter(([name, { fold }]) => name !== current && !isBusy(fold.session));
    const forgotten = idle.slice(0, -MOST_RECALLED).map(([name, known]) => [name, withoutCalls(known)] as const);
    this.#memory = { ...this.#memory, sessions: { ...sessions, ...Object.fromEntries(forgotten) } };
  }
}

/**
 * Whether the limits of a session are reported by other ways than the words in its output. The other ways are its hooks, its files, its stream of
 * events, or the screen of an interactive client. The words alone are in every source file about limits.
 */
export const reportsLimits = (session: KnownSession | null, isHeadless: boolean): boolean => {
  if (session === null || hasEnded(session)) return false;
  return session.source === 'output' || !isHeadless || adapterNamed(session.client)?.hooks.reportsLimits === true;
};
