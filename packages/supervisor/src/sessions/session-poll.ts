import { rmSync } from 'node:fs';
import type { CommandLine } from '@vigil/adapters/adapter';
import { type AgentSpec, sharedDir, spoolOf } from '../agent/agent-spec.ts';
import { removeShared } from '../agent/shared-files.ts';
import type { MonitorDeps } from '../deps.ts';
import { type ClientAdapter, clientOf } from '../orders/client-control.ts';
import { identify, ifKnown, isAlive, type Pid, sessionOf, wordsOf } from '../process/proc.ts';
import type { Surface } from '../screen/surface.ts';
import { limitShown, missedEvents } from '../screen/waiting.ts';
import { type AgentSessions, hasEnded } from './agent-sessions.ts';

/** A process, and the arguments of its command line. */
export type RunningProgram = { readonly pid: Pid; readonly words: readonly string[] };

/** The processes of a terminal. All of it @throws ProcessesUnknown */
export type RunningPrograms = {
  readonly programs: () => readonly RunningProgram[];
  readonly isAlive: (pid: Pid) => boolean;
};

type Clients = readonly Pick<ClientAdapter, 'name' | 'invocation'>[];

/** A script follows its interpreter. */
const linesIn = ([first, second, ...rest]: readonly string[]): readonly CommandLine[] => [
  ...(first === undefined ? [] : [{ command: first, args: second === undefined ? [] : [second, ...rest] }]),
  ...(second === undefined ? [] : [{ command: second, args: rest }]),
];

/** Whether a client that has reported a session still runs. One that was killed reports no end. */
export class ClientProcess {
  readonly #clients: Clients;
  readonly #running: RunningPrograms;
  #seen: { readonly client: string; readonly pid: Pid } | null = null;

  constructor(clients: Clients, running: RunningPrograms) {
    this.#clients = clients;
    this.#running = running;
  }

  /** True, once: a process of this client was seen, and none is left. */
  isGone(client: string): boolean {
    return ifKnown(() => this.#look(client), false);
  }

  #look(client: string): boolean {
    const before = this.#seen?.client === client ? this.#seen : null;
    if (before !== null && this.#running.isAlive(before.pid)) return false;
    const pid = this.#find(client);
    this.#seen = pid === null ? null : { client, pid };
    return pid === null && before !== null;
  }

  #find(name: string): Pid | null {
    const client = this.#clients.find((one) => one.name === name);
    const starts = ({ words }: RunningProgram) => linesIn(words).some((line) => client?.invocation(line) != null);
    return this.#running.programs().find(starts)?.pid ?? null;
  }
}

/** How often the spool is read where no hook connects, and the transcripts where no hook reports. Milliseconds. */
const READ_SPOOL_EVERY_MS = 1000;
const READ_TRANSCRIPTS_EVERY_MS = 2000;
/** How often the process of a session's client is looked for, milliseconds. */
const LOOK_FOR_CLIENT_EVERY_MS = 5000;
/** How often a limit that stays on the screen is reported. Milliseconds. */
const REPORT_LIMIT_EVERY_MS = 2000;

type PollDeps = Pick<MonitorDeps, 'clients' | 'clock' | 'dir' | 'socketDir' | 'logger'>;

/** Polls what no hook reports about the sessions of one agent: spooled records, the screen, and a client that was killed. */
export class SessionPoll {
  readonly #spec: AgentSpec;
  readonly #deps: PollDeps;
  readonly #sessions: AgentSessions;
  /** null: the agent is the client itself, and ends with it */
  readonly #clientProcess: ClientProcess | null;
  /** the first process of the agent's terminal; null: none has started yet */
  #leader: Pid | null = null;
  #spoolReadAt = 0;
  #transcriptsReadAt = 0;
  #limitReportedAt = 0;
  #clientLookedForAt = Number.NEGATIVE_INFINITY;

  constructor(spec: AgentSpec, deps: PollDeps, sessions: AgentSessions) {
    this.#spec = spec;
    this.#deps = deps;
    this.#sessions = sessions;
    const programs = () =>
      this.#leader === null
        ? []
        : sessionOf(this.#leader.pid).map((pid) => ({ pid: identify(pid), words: wordsOf(pid) }));
    this.#clientProcess =
      clientOf(deps.clients, spec) === null ? new ClientProcess(deps.clients, { programs, isAlive }) : null;
  }

  /** `onClientGone`: the client of the current session was killed, so its session ends */
  poll(leader: Pid, surface: Surface, onClientGone: () => void): void {
    this.#leader = leader;
    const now = this.#deps.clock.monotonic();
    this.#addMissed(surface);
    this.#read(now);
    if (this.#isClientGone(now)) onClientGone();
  }

  /** Some facts fire no hook: an Esc, and a dialog that a person has answered. */
  #addMissed(surface: Surface): void {
    const state = this.#sessions.current?.fold.session;
    if (state === undefined) return;
    for (const event of missedEvents(surface, state, this.#deps.clock.now())) this.#sessions.add(event);
    this.#addLimit(surface, state.main.turn?.open ?? null);
  }

  /** A client that retries a request fires no hook. */
  #addLimit(surface: Surface, turnOpen: boolean | null): void {
    const now = this.#deps.clock.now();
    const limit = limitShown(surface, { turnOpen, waitingFor: null }, now);
    if (limit === null || now < this.#limitReportedAt + REPORT_LIMIT_EVERY_MS) return;
    this.#limitReportedAt = now;
    this.#sessions.add({ kind: 'request_limited', retryAt: limit.retryAt, at: now, agent: null });
  }

  /** A hook that was killed after it had spooled its record notifies no process. */
  #read(now: number): void {
    if (now < this.#spoolReadAt + READ_SPOOL_EVERY_MS) return;
    this.#spoolReadAt = now;
    this.#sessions.read();
    if (now < this.#transcriptsReadAt + READ_TRANSCRIPTS_EVERY_MS) return;
    this.#transcriptsReadAt = now;
    this.#sessions.readTranscripts(this.#deps.clock.now());
  }

  #isClientGone(now: number): boolean {
    const session = this.#sessions.current;
    if (session === null || hasEnded(session) || now < this.#clientLookedForAt + LOOK_FOR_CLIENT_EVERY_MS) return false;
    this.#clientLookedForAt = now;
    if (this.#clientProcess?.isGone(session.client) !== true) return false;
    this.#deps.logger('the client of a session is gone', { agentId: this.#spec.agentId, client: session.client });
    return true;
  }

  removeSpool(): void {
    const path = spoolOf(sharedDir(this.#spec, this.#deps), this.#spec.instanceId);
    try {
      if (this.#spec.user === null) rmSync(path, { recursive: true, force: true });
      else removeShared(this.#spec, this.#deps.socketDir, this.#spec.user);
    } catch (error) {
      this.#deps.logger('the spool of an agent that has ended is left', { path, error: String(error) });
    }
  }
}
