import type { ErrorReport, ToolCall, WaitingFor } from '@vigil/events';
import { ownOf } from '../shared/payload.ts';
import type { Changed } from './calls.ts';
import * as openCalls from './calls.ts';
import { type CallName, type CallStart, nameOf, type SessionEvent, type SessionFact } from './events.ts';
import { type AgentReport, reportOf } from './report.ts';
import {
  type AgentState,
  agentOf,
  newSession,
  type Obstacle,
  type OpenCall,
  type SessionState,
  withAgent,
  workingSubagents,
} from './state.ts';
import { uncounted, withAnswer, withUsage } from './usage.ts';

export { callsToSend, runningCalls } from './calls-to-send.ts';
export type { AnswerUsage, CallName, SessionEvent, SessionFact, Usage } from './events.ts';
export type { AgentReport } from './report.ts';
export { newSession, type SessionState } from './state.ts';
export { withoutUsage } from './usage.ts';

/** The agents with an overdue outcome of a call, by the client's id; null for the main agent. */
export const agentsWithOverdueOutcomes = (session: SessionState, now: number): readonly (string | null)[] =>
  [null, ...Object.keys(session.subagents)].filter((id) =>
    Object.values(agentOf(session, id).open).some(openCalls.isPendingTooLong(now)),
  );

/** A session after an event, and the reports about its agents. */
export type Observed = { readonly session: SessionState; readonly reports: readonly AgentReport[] };

const all = (): boolean => true;

/** Selects calls that began at or before a time. */
const until =
  (at: number) =>
  ({ call }: OpenCall): boolean =>
    call.started_at === null || call.started_at <= at;

const unchanged = (agent: AgentState): Changed => ({ agent, calls: [] });

const latest = (agent: AgentState, at: number): number => Math.max(at, agent.turn?.last_event_at ?? at);

const opened = (agent: AgentState, at: number): AgentState =>
  agent.turn?.open === true
    ? { ...agent, turn: { ...agent.turn, last_event_at: latest(agent, at) }, ended: false }
    : { ...agent, turn: { open: true, started_at: at, last_event_at: at }, wakes: false, ended: false };

const closed = (agent: AgentState, at: number): AgentState => ({
  ...agent,
  turn: { open: false, started_at: agent.turn?.started_at ?? null, last_event_at: latest(agent, at) },
  closedAt: at,
  wait: null,
});

/** Any sign of work ends an obstacle. */
const free = (agent: AgentState): AgentState => ({ ...agent, obstacle: null, phase: 'working' });

/** Reports of one moment can arrive in any order. An event before the end of the last turn does not open another. */
const isLate = ({ turn, closedAt }: AgentState, at: number): boolean =>
  turn?.open !== true && closedAt !== null && at < closedAt;

/** Whether the end of a turn is reported after the start of the next one. */
const isOfEarlierTurn = ({ turn }: AgentState, at: number): boolean =>
  turn?.open === true && turn.started_at !== null && at < turn.started_at;

/** Whether the report is the end of a background command, after its call and turn. The agent does not work. */
const isEndInBackground = ({ turn, endedCalls }: AgentState, { call_id }: ToolCall): boolean =>
  turn?.open !== true && endedCalls.includes(call_id);

/** Whether the start of a turn is reported after an event in it. */
const isUnderWay = ({ turn }: AgentState, at: number): boolean =>
  turn?.open === true && turn.last_event_at !== null && at < turn.last_event_at;

/** Ends a turn and its calls. */
const endTurn = (agent: AgentState, at: number, change: Partial<AgentState>): Changed => {
  const over = openCalls.abandon(agent, at, until(at));
  if (isOfEarlierTurn(agent, at)) return over;
  return { ...over, agent: { ...closed(over.agent, at), ...change } };
};

const startTurn = (agent: AgentState, at: number): Changed => {
  if (isLate(agent, at) || isUnderWay(agent, at)) return unchanged(agent);
  const over = openCalls.abandon(agent, at, until(at));
  const turn = { open: true, started_at: at, last_event_at: latest(agent, at) };
  return { ...over, agent: { ...free(over.agent), turn, wait: null, wakes: false, ended: false } };
};

const startSession = (agent: AgentState, at: number): Changed => {
  const over = openCalls.abandon(agent, at, until(at));
  if (isOfEarlierTurn(agent, at) || isLate(agent, at)) return over;
  const { turn, wait, obstacle, wakes, ended, phase } = newSession.main;
  return { ...over, agent: { ...over.agent, turn, wait, obstacle, wakes, ended, phase, closedAt: at } };
};

const waitFor = (agent: AgentState, waiting: WaitingFor, call: ToolCall | undefined, at: number): AgentState => {
  const known = agent.wait;
  const since = known?.waiting.since ?? waiting.since ?? at;
  const wait = { waiting: { ...waiting, since }, callId: call?.call_id ?? null };
  const asking = call === undefined ? agent : openCalls.ask(agent, call.call_id);
  return { ...asking, wait };
};

/** A later event shows that an earlier question is answered, unless its call is still open. */
const startWait = (agent: AgentState, waiting: WaitingFor, name: CallName | null, at: number): AgentState => {
  // A notification repeats an open question in a shorter form.
  if (name === null && agent.wait !== null) return agent;
  const call = name === null ? openCalls.onlyCall(agent) : openCalls.openCall(agent, name);
  // Claude Code notifies some seconds after the request, which may be answered by then.
  if (name === null && waiting.kind === 'permission' && openCalls.isAnswered(agent, call)) return agent;
  const isAnswered = name === null ? !Object.values(agent.open).some(until(at)) : true;
  const isBefore = at < (agent.turn?.last_event_at ?? at);
  return call === undefined && isAnswered && isBefore ? agent : waitFor(agent, waiting, call, at);
};

/** The turn continues: with the call, or with its refusal. A later request has a wait of its own. */
const answerWait = (
  agent: AgentState,
  { call: name, refused }: Extract<SessionFact, { kind: 'wait_answered' }>,
  at: number,
): Changed => {
  const call = name === null ? undefined : openCalls.openCall(agent, name);
  const { wait, turn } = agent;
  const isOwn = wait !== null && wait.callId === (call?.call_id ?? null) && (wait.waiting.since ?? at) <= at;
  const after = isOwn ? { ...agent, wait: null } : agent;
  const going = turn?.open === false || isLate(agent, at) ? after : opened(free(after), at);
  if (call === undefined) return unchanged(going);
  return refused ? openCalls.refuse(going, nameOf(call), at) : unchanged(openCalls.answer(going, call.call_id));
};

const endBatch = (agent: AgentState, calls: readonly ToolCall[], at: number): Changed => {
  const reported = calls.reduce<Changed>(
    (so, call) => {
      const one = openCalls.endInBatch(so.agent, call);
      return { agent: one.agent, calls: [...so.calls, ...one.calls] };
    },
    unchanged(isLate(agent, at) ? agent : opened(agent, at)),
  );
  const over = openCalls.abandon(reported.agent, at, until(at));
  const wait = Object.keys(over.agent.open).length === 0 ? null : over.agent.wait;
  return { agent: { ...over.agent, wait }, calls: [...reported.calls, ...over.calls] };
};

const startCall = (agent: AgentState, { call, batch, asks }: CallStart, at: number): Changed => {
  if (isLate(agent, at)) return openCalls.startLate(agent, call, at);
  const { agent: after, calls } = openCalls.start(opened(free(agent), at), call, batch, at);
  return { agent: asks === null ? after : startWait(after, asks, nameOf(call), at), calls };
};

/** A report without a reset does not remove a future reset. */
const limited = ({ obstacle }: AgentState, retryAt: number | null, at: number): Obstacle => {
  const known = obstacle?.kind === 'rate_limited' ? obstacle.retryAt : null;
  return { kind: 'rate_limited', retryAt: retryAt ?? (known !== null && known > at ? known : null) };
};

/** Entries of the session's file from before this turn belong to an earlier one, possibly of another process. */
const isOfThePast = (agent: AgentState, at: number): boolean => isLate(agent, at) || isOfEarlierTurn(agent, at);

const seeCall = (agent: AgentState, started: CallStart, at: number): Changed => {
  const { call, batch } = started;
  if (agent.endedCalls.includes(call.call_id)) return unchanged(agent);
  if (Object.hasOwn(agent.open, call.call_id)) return openCalls.inBatch(agent, call.call_id, batch, at);
  return isOfThePast(agent, at) ? unchanged(agent) : startCall(agent, started, at);
};

/** The hook reports the end of a call before the model gets its result. */
const seeResult = (
  agent: AgentState,
  { callId, refused, errorClass }: Extract<SessionFact, { kind: 'result_seen' }>,
  at: number,
): Changed => {
  const known = ownOf(agent.open, callId);
  if (known === undefined) return unchanged(agent);
  const going = isLate(agent, at) ? agent : opened(agent, at);
  if (refused) return openCalls.refuse(going, nameOf(known.call), at);
  if (errorClass !== null) return openCalls.endFailed(going, known, errorClass, at);
  return openCalls.abandon(going, at, ({ call }) => call.call_id === callId);
};

const seeEnd = (agent: AgentState, { call, name }: Extract<SessionFact, { kind: 'end_seen' }>, at: number): Changed => {
  const known = openCalls.callUntil(agent, name, at);
  return known === undefined
    ? unchanged(agent)
    : openCalls.endSeen(isLate(agent, at) ? agent : opened(agent, at), known, call, at);
};

/** Whether a later report has begun another turn, or continued this one. */
const seeLastAnswer = (agent: AgentState, wakes: boolean, at: number): Changed =>
  agent.turn?.open === true && at >= (agent.turn.last_event_at ?? at)
    ? endTurn(agent, at, { obstacle: null, wakes })
    : unchanged(agent);

const failTurn = (
  agent: AgentState,
  { errorClass, passes, retryAt }: Extract<SessionFact, { kind: 'turn_failed' }>,
  at: number,
): Changed => {
  const obstacle: Obstacle = passes ? limited(agent, retryAt, at) : { kind: 'blocked', errorClass };
  return endTurn(agent, at, { obstacle });
};

const changed = (agent: AgentState, event: SessionFact, at: number): Changed => {
  switch (event.kind) {
    case 'session_started':
      return event.source === 'compact' ? unchanged({ ...agent, phase: 'working' }) : startSession(agent, at);
    case 'session_ended':
      return endTurn(agent, at, { ended: !event.continues, wakes: event.continues });
    case 'turn_started':
      return startTurn(agent, at);
    case 'turn_ended':
      return endTurn(agent, at, { obstacle: null, wakes: event.wakes });
    case 'turn_interrupted':
      return endTurn(agent, at, { obstacle: null, wakes: false });
    case 'turn_failed':
      return failTurn(agent, event, at);
    case 'at_prompt':
      return agent.turn?.open === true ? endTurn(agent, at, { wakes: false }) : unchanged({ ...agent, wait: null });
    case 'call_started':
      return startCall(agent, event, at);
    case 'call_ended':
      if (isEndInBackground(agent, event.call)) return unchanged(agent);
      return openCalls.end(isLate(agent, at) ? agent : opened(free(agent), at), event.call, event.name);
    case 'call_outcome_pending':
      if (isEndInBackground(agent, event.call)) return unchanged(agent);
      return isLate(agent, at)
        ? openCalls.end(agent, event.call, event.name)
        : openCalls.endPending(opened(free(agent), at), event.call, event.name);
    case 'outcomes_overdue':
      return openCalls.abandon(agent, at, openCalls.isPendingTooLong(at));
    case 'call_refused':
      return openCalls.refuse(agent, event.call, at);
    case 'call_seen':
      return seeCall(agent, event, at);
    case 'result_seen':
      return seeResult(agent, event, at);
    case 'end_seen':
      return seeEnd(agent, event, at);
    case 'last_answer_seen':
      return seeLastAnswer(agent, event.wakes, at);
    case 'batch_ended':
      return endBatch(agent, event.calls, at);
    case 'wait_started':
      return unchanged(startWait(agent, event.waiting, event.call, at));
    case 'wait_ended':
      return unchanged({ ...agent, wait: null });
    case 'wait_answered':
      return answerWait(agent, event, at);
    case 'phase_changed':
      return unchanged({ ...agent, phase: event.phase });
    case 'model_answers':
      return unchanged(isLate(agent, at) ? agent : { ...opened(free(agent), at), wait: null });
    case 'usage_counted':
      return unchanged(withUsage(agent, event.usage));
    case 'answer_counted':
      return unchanged(withAnswer(agent.counts === 'metered' ? uncounted(agent) : agent, event.answer));
    case 'usage_metered':
      return unchanged(agent.counts === 'own' ? agent : { ...withUsage(agent, event.usage), counts: 'metered' });
    case 'request_limited':
      return unchanged({ ...agent, obstacle: limited(agent, event.retryAt, at) });
    case 'subagent_started':
    case 'subagent_ended':
      return unchanged(agent);
  }
};

/**
 * Calls of sub-agents are in flight in the session's own agent too, so that it counts as working. They end there with
 * an unknown result, so that only their duration counts twice.
 */
const inParent = (calls: readonly ToolCall[]): readonly ToolCall[] =>
  calls.map((call) =>
    call.outcome === 'running' ? call : { ...call, outcome: 'abandoned', result_hash: null, masked_result_hash: null },
  );

/** The error that ended a turn. */
const errorsOf = (event: SessionEvent): readonly ErrorReport[] =>
  event.kind === 'turn_failed'
    ? [{ at: event.at, count: 1, error_class: event.errorClass.slice(0, LONGEST_NAME), hash: null, message: null }]
    : [];

const withErrors = (report: AgentReport, errors: readonly ErrorReport[]): AgentReport =>
  errors.length === 0 ? report : { ...report, fields: { ...report.fields, errors } };

/** The longest class of an error, and the longest type of sub-agent, which is a label. Characters. */
const LONGEST_NAME = 200;

const subagentChanged = (session: SessionState, id: string, event: SessionEvent): Observed => {
  const before = agentOf(session, id);
  const over: Changed = event.kind === 'subagent_ended' ? openCalls.abandon(before, event.at, all) : unchanged(before);
  const agent: AgentState =
    event.kind === 'subagent_started'
      ? { ...opened(over.agent, event.at), type: event.type?.slice(0, LONGEST_NAME) ?? null }
      : { ...closed(over.agent, event.at), ended: true };
  const after = seenInMain(withAgent(session, id, agent), event.at);
  return { session: after, reports: [reportOf(after, id, over.calls), reportOf(after, null, inParent(over.calls))] };
};

/**
 * An event of a sub-agent shows that the session's own agent does not hang, and that an awaited permission was given.
 */
const seenInMain = (session: SessionState, at: number): SessionState => {
  const { main } = session;
  const turn = main.turn === null ? null : { ...main.turn, last_event_at: latest(main, at) };
  const isGiven = main.wait?.waiting.kind === 'permission' && main.wait.callId === null;
  return { ...session, main: { ...main, turn, wait: isGiven ? null : main.wait } };
};

/**
 * Events of working agents only. The file of a sub-agent for a summary, for example, has tokens and a last answer but
 * no start.
 */
const showsWork = ({ kind }: SessionFact): boolean =>
  kind.startsWith('call_') || kind === 'batch_ended' || kind === 'wait_started' || kind === 'model_answers';

/** The end or the replacement of a session ends its sub-agents. */
const endsSubagents = (event: SessionFact): boolean =>
  event.kind === 'session_ended' || (event.kind === 'session_started' && event.source !== 'compact');

const withoutSubagents = (session: SessionState, at: number): Observed =>
  Object.keys(session.subagents)
    .filter((id) => session.subagents[id]?.ended === false)
    .reduce<Observed>(
      (so, id) => {
        const one = subagentChanged(so.session, id, { kind: 'subagent_ended', id, at, agent: null });
        return { session: one.session, reports: [...so.reports, ...one.reports] };
      },
      { session, reports: [] },
    );

/**
 * Folds one event into a session. Every call that starts ends: by its result, its refusal, an interrupt, or the end of its batch, turn
 * or agent. A later call of the same agent in another batch ends it, too. Deterministic; the state is plain JSON.
 */
export const observe = (session: SessionState, event: SessionEvent): Observed => {
  if (event.kind === 'subagent_started') return subagentChanged(session, event.id, event);
  // The end of a sub-agent without other reports, such as one for a summary.
  if (event.kind === 'subagent_ended')
    return Object.hasOwn(session.subagents, event.id)
      ? subagentChanged(session, event.id, event)
      : { session, reports: [] };
  if (event.agent !== null && !Object.hasOwn(session.subagents, event.agent) && !showsWork(event))
    return { session, reports: [] };
  const { session: before, reports } = endsSubagents(event)
    ? withoutSubagents(session, event.at)
    : { session, reports: [] };
  const { agent, calls } = changed(agentOf(before, event.agent), event, event.at);
  const after = withAgent(before, event.agent, agent);
  const errors = errorsOf(event);
  if (event.agent === null)
    return { session: after, reports: [...reports, withErrors(reportOf(after, null, calls), errors)] };
  const seen = seenInMain(after, event.at);
  const own = withErrors(reportOf(seen, event.agent, calls), errors);
  return { session: seen, reports: [...reports, own, reportOf(seen, null, inParent(calls))] };
};

/** Whether a turn or a sub-agent of the session is working. */
export const isBusy = (session: SessionState): boolean =>
  session.main.turn?.open === true || workingSubagents(session).length > 0;
