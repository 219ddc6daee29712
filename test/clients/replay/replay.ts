import { type Adapter, adapterNamed } from '@vigil/adapters';
import { asId, subagentId } from '@vigil/adapters/names';
import { type RecordedHook, type RecordedLine, recordedRuns, recordedStreams } from '@vigil/adapters/recordings';
import { type AgentReport, newSession, observe, type SessionEvent } from '@vigil/adapters/session';
import { type Heartbeat, parseHeartbeat, type ToolCall } from '@vigil/events';
import { Folding, type Observation, type Policies } from '@vigil/health';
import { T0 } from '@vigil/health/fixture';
import { ingested } from './ingested.ts';

/** A change of an agent's state, in seconds since the first event of its run. */
export type Judged = {
  readonly agent: string;
  readonly to: string;
  readonly at: number;
  /** the signals that fired, sorted */
  readonly signals: readonly string[];
};

/** The facts of a session at one time, epoch milliseconds. */
export type Moment = { readonly at: number; readonly events: readonly SessionEvent[] };

export type Replayed = {
  readonly judged: readonly Judged[];
  /** the reported activities of the session's own agent, without repetitions */
  readonly activities: readonly string[];
  /** seconds until the end of each call, in order */
  readonly callEnds: readonly number[];
  /** whether the last report has an open turn; null if unknown */
  readonly isTurnOpen: boolean | null;
  /** whether a call has ended with an unknown outcome */
  readonly hasUnknownEnd: boolean;
};

const MAIN = 'a1';

const agentIdOf = ({ agent, type }: AgentReport): string => (agent === null ? MAIN : subagentId(MAIN, type, agent));

/** Heartbeats of one session at each event and at each interval, passed on by heartbeat-ingest and folded as the evaluator folds them. */
export class Replay {
  readonly #folding: Folding;
  readonly #origin: number;
  readonly #reports = new Map<string | null, AgentReport>();
  readonly judged: Judged[] = [];
  readonly activities: string[] = [];
  readonly callEnds: number[] = [];
  isTurnOpen: boolean | null = null;
  hasUnknownEnd = false;
  #sequence = 0;

  constructor(policies: Policies, origin: number) {
    this.#folding = new Folding(policies);
    this.#origin = origin;
  }

  passTo(ms: number): void {
    while (this.#folding.dueAt < T0 + ms) this.#fold(this.#folding.dueAt - T0, null);
  }

  /** The fields of all agents, without calls. */
  sendAll(ms: number): void {
    for (const report of this.#reports.values()) {
      const { tool_calls: _, ...fields } = report.fields;
      this.#send(ms, { ...report, fields });
    }
  }

  report(ms: number, report: AgentReport): void {
    this.#reports.set(report.agent, report);
    this.#send(ms, report);
    const ended = (report.fields.tool_calls ?? []).filter(({ outcome }) => outcome !== 'running');
    for (const _ of ended) this.callEnds.push(ms / 1000);
    const { activity } = report.fields;
    if (report.agent === null && activity && activity !== this.activities.at(-1)) this.activities.push(activity);
  }

  #moved(calls: readonly ToolCall[]): readonly ToolCall[] {
    const shift = (time: number | null) => (time === null ? null : time - this.#origin + T0);
    return calls.map((call) => ({
      ...call,
      started_at: shift(call.started_at),
      ended_at: shift(call.ended_at),
      deadline_at: shift(call.deadline_at),
    }));
  }

  #send(ms: number, report: AgentReport): void {
    this.receive(ms, {
      ...parseHeartbeat({
        ...{ agent_id: agentIdOf(report), phase: 'session', last_tool_call: null, token_count: null },
        ...{ task_id: report.agent === null ? 'T-1' : null, timestamp: T0 + ms, error_count: 0 },
        ...{ progress_indicator: 'session', interval_ms: 30_000, runtime_id: 'host-1' },
        ...{ instance_id: asId(`s1:${report.agent ?? ''}`), parent_agent_id: report.agent === null ? null : MAIN },
        client: { name: 'client', session_id: 's1' },
      }),
      ...report.fields,
    });
  }

  /** A heartbeat whose times are those of the recording. */
  receive(ms: number, heartbeat: Heartbeat): void {
    this.passTo(ms);
    this.#sequence += 1;
    const { turn, tool_calls, parent_agent_id } = heartbeat;
    const time = (at: number | null) => (at === null ? null : at - this.#origin + T0);
    const payload: Heartbeat = {
      ...heartbeat,
      timestamp: T0 + ms,
      sequence: this.#sequence,
      turn: turn && { ...turn, started_at: time(turn.started_at), last_event_at: time(turn.last_event_at) },
      tool_calls: this.#moved(tool_calls),
    };
    if (parent_agent_id === null) this.isTurnOpen = turn?.open ?? null;
    if (tool_calls.some(({ outcome }) => outcome === 'abandoned')) this.hasUnknownEnd = true;
    this.#fold(ms, { ...ingested(payload), eventId: `e${this.#sequence}` });
  }

  #fold(ms: number, input: Observation | null): void {
    const clock = { now: T0 + ms, watched: T0 + ms, ingresses: {} };
    for (const event of this.#folding.fold({ clock, input }).emitted) {
      if (event.type !== 'HEALTH_STATE_CHANGED') continue;
      const { agentId, to, evidence } = event.payload;
      const signals = evidence.map(({ signal }) => signal).sort();
      this.judged.push({ agent: agentId, to, at: ms / 1000, signals });
    }
  }
}

const isInstalled = (events: readonly string[], { payload }: RecordedHook): boolean =>
  events.includes(String(payload.hook_event_name));

/** The facts of the installed hooks. */
export const hookMoments = ({ hooks }: Adapter, recorded: readonly RecordedHook[]): readonly Moment[] =>
  recorded
    .filter((one) => isInstalled(hooks.events, one))
    .map(({ payload, at }) => ({ at, events: hooks.eventsOf(payload, at) }));

const SECOND = 1000;

/** The facts of a client's output lines. Those of Codex have no times, and are set a second apart. */
export const streamMoments = ({ stream }: Adapter, lines: readonly RecordedLine[]): readonly Moment[] => {
  const times = lines.map(({ line }) => Date.parse(JSON.parse(line).timestamp ?? ''));
  let at = times.find((time) => !Number.isNaN(time)) ?? 0;
  let state = stream.initial;
  return lines.map(({ line }, index): Moment => {
    const time = times[index] ?? Number.NaN;
    at = Number.isNaN(time) ? at + SECOND : Math.max(at, time);
    const read = stream.read(state, line, at);
    state = read.state;
    return { at, events: read.events };
  });
};

/** Replays the facts of a session, and then watches it for `watchedMs` without facts. */
export const replayedMoments = (
  moments: readonly Moment[],
  policies: Policies,
  intervalMs: number,
  watchedMs = 0,
): Replayed => {
  const origin = moments[0]?.at ?? 0;
  const replay = new Replay(policies, origin);
  let session = newSession;
  let heartbeatAt = intervalMs;
  const watch = (ms: number) => {
    for (; heartbeatAt < ms; heartbeatAt += intervalMs) replay.sendAll(heartbeatAt);
  };
  for (const { at, events } of moments) {
    const ms = at - origin;
    watch(ms);
    for (const event of events) {
      const observed = observe(session, event);
      session = observed.session;
      for (const report of observed.reports) replay.report(ms, report);
    }
  }
  watch((moments.at(-1)?.at ?? 0) - origin + watchedMs);
  return replay;
};

const noRun = (client: string, run: string): Error => new Error(`no run ${run} of ${client} is recorded`);

/** Replays the hooks of a recorded run with their times. `intervalMs`: between two heartbeats when nothing happens. */
export const replayed = (client: string, run: string, policies: Policies, intervalMs: number): Replayed => {
  const adapter = adapterNamed(client);
  const hooks = recordedRuns(client).get(run);
  if (adapter === undefined || hooks === undefined) throw noRun(client, run);
  return replayedMoments(hookMoments(adapter, hooks), policies, intervalMs);
};

/** Replays the lines that a client printed in a recorded run, with their times. */
export const replayedStream = (client: string, run: string, policies: Policies, intervalMs: number): Replayed => {
  const adapter = adapterNamed(client);
  const lines = recordedStreams(client).get(run);
  if (adapter === undefined || lines === undefined) throw noRun(client, run);
  return replayedMoments(streamMoments(adapter, lines), policies, intervalMs);
};
