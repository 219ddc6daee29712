import type {
  Checkpoint,
  ContextUse,
  ErrorReport,
  ExitReport,
  Heartbeat,
  LimitReport,
  RateLimitReport,
  ToolCall,
  WorkItem,
} from '@vigil/events';
import { type KnownActivity, type KnownVerdict, MOST } from './fields.ts';
// biome-ignore lint/suspicious/noImportCycles: only types come back
import { type AgentIdentity, type HeartbeatContext, heartbeat } from './heartbeat.ts';
import { applyReport, marked, noProgress, type Progress } from './progress.ts';

/** What holds until a new report changes it. Counts are of the whole instance. */
export type Lasting = {
  readonly phase: string;
  readonly progress: string;
  readonly activity: KnownActivity | null;
  /** null: the agent has reported none */
  readonly tokens: number | null;
  readonly errors: number;
  readonly steps: number | null;
  readonly lastCallAt: number | null;
  readonly reportsCheckpoints: boolean | null;
  readonly checkpoint: Checkpoint | null;
  readonly context: ContextUse | null;
  readonly work: WorkItem | null;
  readonly limits: readonly LimitReport[];
  readonly exit: ExitReport | null;
};

/** What one heartbeat carries and no other. */
type Once = {
  readonly calls: readonly ToolCall[];
  readonly errors: readonly ErrorReport[];
  readonly verdicts: readonly KnownVerdict[];
  readonly blockers: readonly string[];
  readonly handoff: string | null;
  readonly probeReply: string | null;
  readonly rateLimit: RateLimitReport | null;
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
  calls: [],
  errors: [],
  verdicts: [],
  blockers: [],
  handoff: null,
  probeReply: null,
  rateLimit: null,
};

export const noNotes: Notes = {
  sequence: 0,
  lasting: {
    phase: 'running',
    progress: 'running',
    activity: null,
    tokens: null,
    errors: 0,
    steps: null,
    lastCallAt: null,
    reportsCheckpoints: null,
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
  progress: progressAfter(notes, { token_count: changes.tokens, checkpoint: changes.checkpoint, work: changes.work }),
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
  const calls = [...notes.once.calls.filter(({ call_id }) => call_id !== call.call_id), call];
  const tooMany = calls.length > MOST.calls;
  if (tooMany) calls.splice(indexToLeaveOut(calls, reportedCalls), 1);
  const at = call.ended_at ?? call.started_at;
  return {
    ...notes,
    once: { ...notes.once, calls },
    lasting: {
      ...lasting,
      lastCallAt: at ?? lasting.lastCallAt,
      activity: atWork(lasting.activity),
      errors: lasting.errors + (call.outcome === 'error' ? 1 : 0),
    },
    leftOut: leftOut + (tooMany ? 1 : 0),
    progress: progressAfter(notes, { tool_calls: [call] }),
  };
};

/** An agent that calls no longer waits, even if it reported that it waits. */
const atWork = (activity: KnownActivity | null): KnownActivity | null => {
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
    lasting: { ...notes.lasting, errors: notes.lasting.errors + error.count },
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
  for (const { call_id, outcome } of notes.once.calls)
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
