import type { Adapter, HookPayload, ScreenMeaning } from '@vigil/adapters/adapter';
import { asId, subagentId } from '@vigil/adapters/names';
import { type AgentReport, newSession, observe, type SessionEvent } from '@vigil/adapters/session';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { Folding, type Observation, type Policies } from '@vigil/health';
import { heartbeat, T0 } from '@vigil/health/fixture';
import {
  answered,
  checkFields,
  type HeartbeatState,
  type Identity,
  interruptedAfterMs,
  limitShown,
  missedEvents,
  nextHeartbeat,
  noHeartbeats,
  noTerminal,
  type Surface,
  screenReport,
  withReport,
} from '@vigil/supervisor/replaying';
import { ingested, ingestedEnd } from './ingested.ts';

/** An event of a watched session. `ms`: since its start. Hooks and lines are in the order of their arrival. */
export type Step = { readonly ms: number } & (
  | { readonly kind: 'hook'; readonly at: number; readonly payload: HookPayload }
  /** written into the file of the session, or of the sub-agent `agent` */
  | { readonly kind: 'line'; readonly agent: string | null; readonly text: string }
  | { readonly kind: 'read' }
  | { readonly kind: 'screen'; readonly meaning: ScreenMeaning }
  | { readonly kind: 'exit' }
  | { readonly kind: 'look' }
);

/** A state other than HEALTHY, or a warrant. `ms`: since the session began. */
export type Finding = {
  readonly ms: number;
  readonly agent: string;
  readonly what: string;
  readonly reason: string;
};

type Watched = { readonly who: Identity; heartbeats: HeartbeatState; hasEnded: boolean };

const MAIN_AGENT = 'a1';
/** The interval at which a limit on the screen is reported, as in the supervisor. */
const REPORT_LIMIT_EVERY_MS = 2000;

const identityOf = (agentId: string, instanceId: string, parentAgentId: string | null): Identity => ({
  ...{ agentId, instanceId, parentAgentId, taskId: parentAgentId === null ? 'T-1' : null, runtimeId: 'host-1' },
  ...{ attempt: 0, maxAttempts: null, policy: null, labels: {} },
});

/**
 * One session, from its hooks, session file, screen and heartbeats, through supervisor and heartbeat-ingest to the
 * evaluator.
 */
export class WatchedSession {
  readonly #folding: Folding;
  readonly #adapter: Adapter;
  readonly #headless: boolean;
  readonly #agents = new Map<string | null, Watched>();
  #session = newSession;
  #transcript: unknown;
  #lines: { readonly agent: string | null; readonly text: string }[] = [];
  #meaning: ScreenMeaning = { kind: 'unknown' };
  #since = 0;
  #limitReportedAt = Number.NEGATIVE_INFINITY;
  #records = 0;
  readonly findings: Finding[] = [];

  constructor(policies: Policies, adapter: Adapter, headless: boolean) {
    this.#folding = new Folding(policies);
    this.#adapter = adapter;
    this.#headless = headless;
    this.#transcript = adapter.transcript.initial;
    this.#agents.set(null, { who: identityOf(MAIN_AGENT, 's1', null), heartbeats: noHeartbeats, hasEnded: false });
  }

  /** Plays the steps, in their order, and heartbeats at each interval. */
  play(steps: readonly Step[], endMs: number, intervalMs: number): void {
    let heartbeatAt = 0;
    for (const step of steps) {
      for (; heartbeatAt < step.ms; heartbeatAt += intervalMs) this.#interval(heartbeatAt, intervalMs);
      this.#do(step, intervalMs);
      if (step.kind === 'exit') return;
    }
    for (; heartbeatAt <= endMs; heartbeatAt += intervalMs) this.#interval(heartbeatAt, intervalMs);
  }

  #do(step: Step, intervalMs: number): void {
    const { ms } = step;
    switch (step.kind) {
      case 'hook':
        this.#take(ms, this.#adapter.hooks.eventsOf(step.payload, T0 + step.at), intervalMs);
        this.#readLines(ms, intervalMs);
        break;
      case 'line':
        this.#lines.push(step);
        break;
      case 'read':
        this.#readLines(ms, intervalMs);
        break;
      case 'screen':
        this.#meaning = step.meaning;
        this.#since = ms;
        this.#look(ms, intervalMs);
        break;
      case 'look':
        this.#look(ms, intervalMs);
        break;
      case 'exit':
        this.#exit(ms, null, intervalMs);
        break;
    }
  }

  #interval(ms: number, intervalMs: number): void {
    this.#look(ms, intervalMs);
    for (const one of this.#agents.values()) if (!one.hasEnded) this.#send(ms, one, intervalMs);
  }

  #readLines(ms: number, intervalMs: number): void {
    const lines = this.#lines;
    this.#lines = [];
    const events = lines.flatMap(({ agent, text }) => {
      const read = this.#adapter.transcript.read(this.#transcript, text);
      this.#transcript = read.state;
      return read.events.map((event) => (agent === null ? event : { ...event, agent }));
    });
    this.#take(ms, events, intervalMs);
  }

  #surface(ms: number): Surface {
    const view = { lines: [], withoutFaint: [], cursor: { column: 0, row: 0 }, alternate: false };
    const client = {
      ...this.#adapter,
      invocation: { headless: this.#headless, streamsEvents: false, printsProgress: false },
    };
    return { view, bracketedPaste: true, mode: null, client, meaning: this.#meaning, steadyMs: ms - this.#since };
  }

  #look(ms: number, intervalMs: number): void {
    this.#take(ms, missedEvents(this.#surface(ms), this.#session, T0 + ms), intervalMs);
    const facts = { turnOpen: this.#session.main.turn?.open ?? null, waitingFor: null };
    const limit = limitShown(this.#surface(ms), facts, T0 + ms);
    if (limit === null || ms < this.#limitReportedAt + REPORT_LIMIT_EVERY_MS) return;
    this.#limitReportedAt = ms;
    this.#take(ms, [{ kind: 'request_limited', retryAt: limit.retryAt, at: T0 + ms, agent: null }], intervalMs);
  }

  #take(ms: number, events: readonly SessionEvent[], intervalMs: number): void {
    for (const event of events) {
      const observed = observe(this.#session, event);
      this.#session = observed.session;
      for (const report of observed.reports) this.#report(ms, report, intervalMs);
    }
  }

  #report(ms: number, report: AgentReport, intervalMs: number): void {
    const { exit, ...fields } = report.fields;
    const hasEnded = report.agent !== null && exit != null;
    const known = this.#agents.get(report.agent);
    if (known?.hasEnded || (known === undefined && hasEnded)) return;
    const agentId = subagentId(MAIN_AGENT, report.type, report.agent ?? '');
    const who = identityOf(agentId, asId(`s1:${report.agent}`), MAIN_AGENT);
    const one = known ?? { who, heartbeats: noHeartbeats, hasEnded: false };
    this.#agents.set(report.agent, one);
    const client = { name: this.#adapter.name, session_id: 's1' };
    one.heartbeats = withReport(one.heartbeats, checkFields({ ...fields, client }).reported, T0 + ms);
    this.#send(ms, one, intervalMs);
    if (hasEnded) this.#exit(ms, report.agent, intervalMs);
  }

  #send(ms: number, one: Watched, intervalMs: number): void {
    const { turn, waiting_for } = one.heartbeats.latest;
    const facts = { turnOpen: turn?.open ?? null, waitingFor: waiting_for?.kind ?? null };
    const screen = { ...screenReport(this.#surface(ms), facts), since: T0 + this.#since };
    const isMain = one.who.parentAgentId === null;
    const terminal = isMain ? { ...noTerminal, printsLines: this.#headless, screen } : noTerminal;
    one.heartbeats = nextHeartbeat(one.heartbeats, one.who, terminal, T0 + ms, intervalMs);
    const { inFlight } = one.heartbeats;
    one.heartbeats = answered(one.heartbeats);
    if (inFlight !== null) this.#fold(ms, ingested(heartbeat(ms, inFlight).payload));
  }

  #exit(ms: number, agent: string | null, intervalMs: number): void {
    const one = this.#agents.get(agent);
    if (one === undefined || one.hasEnded) return;
    one.hasEnded = true;
    this.#send(ms, one, intervalMs);
    const { agentId, instanceId, taskId, runtimeId } = one.who;
    const exited = example(Topic.controlAgent, 'AGENT_EXITED', {
      ...{ agentId, instanceId, taskId, runtimeId, reason: 'finished', code: 0, signal: null, orderId: null },
      at: T0 + ms,
    });
    this.#fold(ms, ingestedEnd({ ...exited, key: agentId }));
  }

  #fold(ms: number, input: Observation): void {
    while (this.#folding.dueAt < T0 + ms) this.#foldAt(this.#folding.dueAt - T0, null);
    this.#records += 1;
    this.#foldAt(ms, { ...input, eventId: `e${this.#records}` });
  }

  #foldAt(ms: number, input: Observation | null): void {
    const clock = { now: T0 + ms, watched: T0 + ms, ingresses: {} };
    for (const one of this.#folding.fold({ clock, input }).emitted) {
      if (one.type === 'HEALTH_STATE_CHANGED') {
        const { agentId: agent, to, reason } = one.payload;
        this.findings.push({ ms, agent, what: to, reason });
      }
      if (one.type === 'WARRANT_FILED') {
        const { agentId: agent, planName, state } = one.payload;
        this.findings.push({ ms, agent, what: `warrant: ${planName}`, reason: state });
      }
    }
  }
}

/** The time after which a prompt on the screen counts as the end of a turn. */
export const looksAfter = interruptedAfterMs + 1;
