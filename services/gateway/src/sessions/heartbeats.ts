import { asId, subagentId } from '@vigil/adapters/names';
import { type AgentReport, callsToSend, runningCalls, type SessionState } from '@vigil/adapters/session';
import type { Heartbeat, ToolCall } from '@vigil/events';

/** Whose session it is. */
export type SessionIdentity = {
  readonly client: string;
  /** the client's id of the session */
  readonly sessionId: string;
  readonly agentId: string;
  readonly taskId: string | null;
  readonly policy: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** the source reports events only: the state between them is unknown, and the end of a turn is not reported */
  readonly eventDriven: boolean;
};

/** The changes, by the client's id of the agent; null: the session's own. */
export type Changes = ReadonlyMap<string | null, AgentReport>;

/** Between two events nothing is sent, for as long as a model may think and a command may run. Milliseconds. */
const INTERVAL_MS = 600_000;

/** A call that has started and ended is reported once, as it has ended. */
const mergedCalls = (before: readonly ToolCall[] = [], more: readonly ToolCall[] = []): readonly ToolCall[] => {
  const newest = new Map(before.map((call) => [call.call_id, call]));
  for (const call of more) {
    newest.delete(call.call_id);
    newest.set(call.call_id, call);
  }
  return [...newest.values()];
};

/** `sent`: the session as the heartbeats before have reported it. */
export const withReport = (changes: Changes, report: AgentReport, sent: SessionState): Changes => {
  const before = changes.get(report.agent);
  const fields = {
    ...before?.fields,
    ...report.fields,
    tool_calls: callsToSend(
      mergedCalls(before?.fields.tool_calls, report.fields.tool_calls),
      runningCalls(sent, report.agent),
    ),
  };
  return new Map([...changes, [report.agent, { ...report, fields }]]);
};

/** Where turns are not reported, it is not known whether an agent works or waits. */
const reportable = ({ fields }: AgentReport, eventDriven: boolean): Partial<Heartbeat> => {
  if (!eventDriven) return fields;
  const { activity, ...rest } = fields;
  const isKnown = activity === 'rate_limited' || activity === 'blocked' || activity === 'exiting';
  return { ...rest, activity: isKnown ? activity : null, turn: null, waiting_for: null };
};

const lastCallOf = (calls: readonly ToolCall[]): number | null => {
  const times = calls.flatMap(({ ended_at, started_at }) => ended_at ?? started_at ?? []);
  return times.length === 0 ? null : Math.max(...times);
};

/** What a sub-agent uses counts for the task of its parent. */
const subagentLabels = (
  { labels, taskId }: SessionIdentity,
  type: string | null,
): Readonly<Record<string, string>> => ({
  ...labels,
  ...(type === null ? {} : { agent_type: type }),
  ...(taskId === null ? {} : { parent_task: taskId }),
});

type Moment = { readonly now: number; readonly sequence: number; readonly errors: number };

/** What a session reports; the rest of a heartbeat has its default. */
const heartbeatOf = (
  session: SessionIdentity,
  report: AgentReport,
  { now, sequence, errors }: Moment,
): Partial<Heartbeat> => {
  const { agentId, taskId, client, sessionId, policy, labels, eventDriven } = session;
  const { agent, type } = report;
  const fields = reportable(report, eventDriven);
  const calls = fields.tool_calls ?? [];
  return {
    agent_id: agent === null ? agentId : subagentId(agentId, type, agent),
    // A sub-agent holds no task: no replacement is ever started for it alone.
    task_id: agent === null ? taskId : null,
    timestamp: now,
    phase: 'session',
    last_tool_call: lastCallOf(calls),
    error_count: errors,
    progress_indicator: fields.phase ?? 'session',
    instance_id: asId(agent === null ? sessionId : `${sessionId}:${agent}`),
    sequence,
    interval_ms: INTERVAL_MS,
    event_driven: eventDriven,
    policy,
    labels: agent === null ? labels : subagentLabels(session, type),
    parent_agent_id: agent === null ? null : agentId,
    client: { name: client, session_id: sessionId },
    ...fields,
    tool_calls: calls,
  };
};

export const heartbeatsOf = (
  session: SessionIdentity,
  changes: Changes,
  moment: Moment,
): { readonly heartbeats: readonly Partial<Heartbeat>[]; readonly errors: number } => {
  const reports = [...changes.values()];
  const failed = reports.flatMap(({ fields }) => fields.tool_calls ?? []).filter(({ outcome }) => outcome === 'error');
  const errors = moment.errors + failed.length;
  return { errors, heartbeats: reports.map((report) => heartbeatOf(session, report, { ...moment, errors })) };
};
