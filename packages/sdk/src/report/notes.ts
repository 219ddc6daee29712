import type { BreakerReport, ErrorReport, Heartbeat, ToolCall } from '@vigil/events';
import { type KnownVerdict, MOST } from './fields.ts';
import { applyReport, marked, noProgress, type Progress } from './progress.ts';

/** The agent that reports, fixed for one instance. */
export type AgentIdentity = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly taskId: string | null;
  readonly runtimeId: string | null;
  readonly attempt: number | null;
  readonly maxAttempts: number | null;
  readonly policy: string | null;
  readonly labels: Readonly<Record<string, string>>;
};

/** What a heartbeat adds to the notes: `intervalMs`: how often heartbeats are sent; `breakers`: their state now. */
export type HeartbeatContext = {
  readonly now: number;
  readonly intervalMs: number;
  readonly breakers: readonly BreakerReport[];
};

/** What an agent itself does not report. */
const unreported = {
  agent_heartbeat_at: null,
  event_driven: false,
  ingress: null,
  verified: null,
  waiting_for: null,
  turn: null,
  parent_agent_id: null,
  client: null,
  usage: [],
  cost_usd: null,
  output: null,
} as const;

const heartbeat = (
  notes: Notes,
  identity: AgentIdentity,
  { now, intervalMs, breakers }: HeartbeatContext,
): Heartbeat => {
  const { steps, ...lasting } = notes.lasting;
  const { verdicts, ...once } = notes.once;
  return {
    ...unreported,
    ...lasting,
    ...once,
    agent_id: identity.agentId,
    task_id: identity.taskId,
    timestamp: now,
    instance_id: identity.instanceId,
    sequence: nextSequence(notes),
    reporter: 'agent',
    interval_ms: intervalMs,
    policy: identity.policy,
    labels: identity.labels,
    runtime_id: identity.runtimeId,
    attempt: identity.attempt,
    max_attempts: identity.maxAttempts,
    breakers,
    steps: steps === null ? null : { total_steps: steps, verdicts },
  };
};

/** What holds until a new report changes it. Counts are of the whole instance. */
export type Lasting = Pick<
  Heartbeat,
  | 'phase'
  | 'progress_indicator'
  | 'activity'
  | 'token_count'
  | 'error_count'
  | 'last_tool_call'
  | 'reports_checkpoints'
  | 'checkpoint'
  | 'context'
  | 'work'
  | 'limits'
  | 'exit'
> & { readonly steps: number | null };

/** What one heartbeat carries and no other. */
type Once = Pick<Heartbeat, 'tool_calls' | 'errors' | 'blockers' | 'handoff' | 'probe_reply' | 'rate_limit'> & {
  readonly verdicts: readonly KnownVerdict[];
};

/**
 * Everything that is still to be reported. One heartbeat is in flight at a time. It keeps its content and its
 * sequence until it is answered, so that one that arrives twice is counted once.
 * Reports since then wait in `once`, and the next heartbeat carries `lasting` as it is at that time.
 */
export type Notes = {
  readonly sequence: number;
  readonly lasting: Lasting;
  readonly once: Once;
  /** calls in flight whose start a heartbeat has reported: their end must not get lost */
  readonly reportedCalls: ReadonlySet<string>;
  /** calls and errors that no heartbeat will carry: too many arrived since the last delivered heartbeat */
  readonly leftOut: number;
  readonly inFlight: Heartbeat | null;
  /** what of it can end a finding about this agent */
  readonly progress: Progress;
};

const nothing: Once = {
  tool_calls: [],
  errors: [],
  verdicts: [],
  blockers: [],
  handoff: null,
  probe_reply: null,
  rate_limit: null,
};

export const noNotes: Notes = {
  sequence: 0,
  lasting: {
    phase: 'running',
    progress_indicator: 'running',
    activity: null,
    token_count: null,
    error_count: 0,
    steps: null,
    last_tool_call: null,
    reports_checkpoints: null,
    checkpoint: null,
    context: null,
    work: null,
    limits: [],
    exit: null,
  },
  once: nothing,
  reportedCalls: new Set(),
  leftOut: 0,
  inFlight: null,
  progress: noProgress,
};

/** The sequence of the heartbeat that will carry the next report. */
export const nextSequence = (notes: Notes): number => notes.sequence + 1;

const progressAfter = (notes: Notes, fields: Parameters<typeof applyReport>[1]): Progress =>
  applyReport(notes.progress, fields, nextSequence(notes));

/** The progress so far: each heartbeat shows that the agent is there. */
export const progressOf = ({ progress, sequence }: Notes): Progress => marked(progress, ['heartbeat'], sequence);

export const lasting = (notes: Notes, changes: Partial<Lasting>): Notes => ({
  ...notes,
  lasting: { ...notes.lasting, ...changes },
  progress: progressAfter(notes, {
    token_count: changes.token_count,
    checkpoint: changes.checkpoint,
    work: changes.work,
  }),
});

export const once = (notes: Notes, changes: Partial<Once>): Notes => ({
  ...notes,
  once: { ...notes.once, ...changes },
});

/** The call to leave out: the first whose start was not reported, else the first. */
const indexToLeaveOut = (calls: readonly ToolCall[], reportedCalls: ReadonlySet<string>): number =>
  Math.max(
    0,
    calls.findIndex(({ call_id }) => !reportedCalls.has(call_id)),
  );

/** A call that began and ended since the last heartbeat is reported once, as ended. */
export const called = (notes: Notes, call: ToolCall): Notes => {
  const { reportedCalls, leftOut, lasting } = notes;
  const calls = [...notes.once.tool_calls.filter(({ call_id }) => call_id !== call.call_id), call];
  const tooMany = calls.length > MOST.calls;
  if (tooMany) calls.splice(indexToLeaveOut(calls, reportedCalls), 1);
  const at = call.ended_at ?? call.started_at;
  return {
    ...notes,
    once: { ...notes.once, tool_calls: calls },
    lasting: {
      ...lasting,
      last_tool_call: at ?? lasting.last_tool_call,
      activity: atWork(lasting.activity),
      error_count: lasting.error_count + (call.outcome === 'error' ? 1 : 0),
    },
    leftOut: leftOut + (tooMany ? 1 : 0),
    progress: progressAfter(notes, { tool_calls: [call] }),
  };
};

/** An agent that calls no longer waits, even if it reported that it waits. */
const atWork = (activity: Lasting['activity']): Lasting['activity'] => {
  const isWaiting =
    activity === 'starting' || activity === 'idle' || activity === 'awaiting_input' || activity === 'rate_limited';
  return isWaiting ? 'working' : activity;
};

/** The same error again raises the count of the last entry. */
export const failed = (notes: Notes, error: ErrorReport): Notes => {
  const { errors } = notes.once;
  const last = errors.at(-1);
  const again = last !== undefined && last.hash === error.hash && last.error_class === error.error_class;
  const all = again ? [...errors.slice(0, -1), { ...error, count: last.count + error.count }] : [...errors, error];
  return {
    ...notes,
    lasting: { ...notes.lasting, error_count: notes.lasting.error_count + error.count },
    once: { ...notes.once, errors: all.slice(-MOST.errors) },
    leftOut: notes.leftOut + Math.max(0, all.length - MOST.errors),
  };
};

export const stepped = (notes: Notes, verdict: KnownVerdict | null): Notes => {
  const verdicts = verdict === null ? notes.once.verdicts : [...notes.once.verdicts, verdict].slice(-MOST.verdicts);
  const total = (notes.lasting.steps ?? 0) + 1;
  const steps = { total_steps: total, verdicts: verdict === null ? [] : [verdict] };
  return { ...once(lasting(notes, { steps: total }), { verdicts }), progress: progressAfter(notes, { steps }) };
};

const reportedAfter = (notes: Notes): ReadonlySet<string> => {
  const reportedCalls = new Set(notes.reportedCalls);
  for (const { call_id, outcome } of notes.once.tool_calls)
    if (outcome === 'running') reportedCalls.add(call_id);
    else reportedCalls.delete(call_id);
  return reportedCalls;
};

/** Puts the next heartbeat in flight. One that already is stays there, with its new send time. */
export const takeHeartbeat = (notes: Notes, identity: AgentIdentity, context: HeartbeatContext): Notes => {
  if (notes.inFlight !== null) return { ...notes, inFlight: { ...notes.inFlight, timestamp: context.now } };
  const inFlight = heartbeat(notes, identity, context);
  return { ...notes, sequence: nextSequence(notes), once: nothing, reportedCalls: reportedAfter(notes), inFlight };
};

/** The heartbeat has arrived or was refused: the next may go. */
export const answered = (notes: Notes): Notes => ({ ...notes, inFlight: null });
