import { callsToSend } from '@vigil/adapters/session';
import type {
  Checkpoint,
  ErrorReport,
  Heartbeat,
  LimitReport,
  MatchedPattern,
  RepeatedError,
  ShownError,
  ToolCall,
  WorkItem,
} from '@vigil/events';
import type { ReportedFields } from '../messages/agent-report.ts';
import { errorHash } from '../output/patterns.ts';
import type { ScreenReport } from '../screen/waiting.ts';
import { newerWork } from './work-source.ts';

/** The agent that a heartbeat is about; fixed for an instance. */
export type Identity = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly taskId: string | null;
  readonly runtimeId: string;
  /** which recovery attempt; 0: the first start */
  readonly attempt: number;
  readonly maxAttempts: number | null;
  readonly policy: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** the parent of a sub-agent; null: the agent is not a sub-agent */
  readonly parentAgentId: string | null;
};

/** What the terminal shows at the time of a heartbeat; times in epoch milliseconds. */
export type TerminalFacts = {
  readonly lastOutputAt: number | null;
  readonly lines: number;
  readonly repeatedError: RepeatedError | null;
  readonly completionAt: number | null;
  readonly resultAt: number | null;
  /** the last lines, where the policy requests them */
  readonly tail: readonly string[];
  /** the question in the line of the cursor, and since when it waits for the answer; null: it has no question */
  readonly asks: { readonly since: number; readonly text: string } | null;
  /** it has asked something before: a question that is gone has been answered */
  readonly hasAsked: boolean;
  /** silence of its terminal is silence of the agent; false: it draws a screen, or works in silence */
  readonly isSilenceKnown: boolean;
  /** what a client shows, and since when */
  readonly screen: ScreenReport & { readonly since: number };
  /** stopped by an order, until it is resumed */
  readonly paused: boolean;
  /** it is being ended: its reports on the way do not count as its activity */
  readonly ending: boolean;
  /** its resource limits, and its use of them */
  readonly limits: readonly LimitReport[];
  /** as the host's tracker has it */
  readonly work: WorkItem | null;
};

/**
 * Lists are what no accepted heartbeat has carried yet; one heartbeat is on its way at a time, unchanged until answered.
 * `runningCalls`: the ids of the calls that a heartbeat has carried as running, and none as ended.
 */
export type HeartbeatState = {
  readonly sequence: number;
  readonly latest: ReportedFields;
  readonly reportedAt: number | null;
  readonly toolCalls: readonly ToolCall[];
  readonly runningCalls: readonly string[];
  readonly errors: readonly ErrorReport[];
  readonly matched: readonly MatchedPattern[];
  readonly shownErrors: readonly ShownError[];
  readonly once: Pick<ReportedFields, 'handoff' | 'blockers' | 'probe_reply' | 'rate_limit'>;
  readonly inFlight: Heartbeat | null;
};

export const noHeartbeats: HeartbeatState = {
  sequence: 0,
  latest: {},
  reportedAt: null,
  toolCalls: [],
  runningCalls: [],
  errors: [],
  matched: [],
  shownErrors: [],
  once: {},
  inFlight: null,
};

/** A list that cannot be sent keeps the newest entries: as many as one heartbeat may carry. */
const AT_MOST = 100;
/** As many as a heartbeat may carry. */
const MOST_LIMITS = 20;
const bounded = <T>(list: readonly T[]): readonly T[] => list.slice(-AT_MOST);

/**
 * A call reported twice before it was sent is sent once, as it is now. While the gateway is away, the oldest calls that
 * began since the last heartbeat are left out.
 */
const withCalls = (
  { toolCalls: known, runningCalls }: HeartbeatState,
  calls: readonly ToolCall[],
): readonly ToolCall[] => {
  const renewed = new Set(calls.map((call) => call.call_id));
  return callsToSend([...known.filter((call) => !renewed.has(call.call_id)), ...calls], new Set(runningCalls));
};

const runningAfter = ({ runningCalls, toolCalls }: HeartbeatState): readonly string[] => {
  const running = new Set(runningCalls);
  for (const { call_id: id, outcome } of toolCalls)
    if (outcome === 'running') running.add(id);
    else running.delete(id);
  return bounded([...running]);
};

/** The sequence of the heartbeat that will carry the next report. */
export const nextSequence = (state: HeartbeatState): number => state.sequence + 1;

/** The client that reported this is gone without an end: what the terminal shows counts again. `reportedAt`: its last report. */
export const clientGone = (state: HeartbeatState, reportedAt: number | null): HeartbeatState => {
  const { activity: _, ...latest } = state.latest;
  return { ...state, reportedAt, latest: { ...latest, turn: null, waiting_for: null } };
};

/** `verdicts` that are not yet sent stay. */
const stepsOf = ({ steps: before }: ReportedFields, { steps: now }: ReportedFields): Pick<ReportedFields, 'steps'> =>
  now && before ? { steps: { ...now, verdicts: bounded([...before.verdicts, ...now.verdicts]) } } : {};

export const withReport = (state: HeartbeatState, report: ReportedFields, at: number): HeartbeatState => {
  const { tool_calls = [], errors = [], handoff, blockers, probe_reply, rate_limit, ...lasting } = report;
  const given = Object.entries({ handoff, blockers, probe_reply, rate_limit }).filter(
    ([, value]) => value !== undefined,
  );
  return {
    ...state,
    latest: { ...state.latest, ...lasting, ...stepsOf(state.latest, lasting) },
    reportedAt: at,
    toolCalls: withCalls(state, tool_calls),
    errors: bounded([...state.errors, ...errors]),
    once: { ...state.once, ...Object.fromEntries(given) },
  };
};

/** Of each pattern the newest match: one on every line pushes no other out. */
export const matched = (state: HeartbeatState, patterns: readonly MatchedPattern[]): HeartbeatState => {
  const newest = new Map([...state.matched, ...patterns].map((one) => [`${one.kind} ${one.source}`, one]));
  return { ...state, matched: bounded([...newest.values()]) };
};

/** Different errors that one heartbeat carries, of those that the terminal shows. */
const MOST_SHOWN = 8;

/** Lines that differ in figures only are one error, with the newest line. */
export const errorsShown = (state: HeartbeatState, errors: readonly ShownError[]): HeartbeatState => {
  const known = new Map(state.shownErrors.map((one) => [errorHash(one.message), one]));
  for (const one of errors) {
    const hash = errorHash(one.message);
    const count = (known.get(hash)?.count ?? 0) + one.count;
    known.delete(hash);
    known.set(hash, { ...one, count });
  }
  return { ...state, shownErrors: [...known.values()].slice(-MOST_SHOWN) };
};

/** The runtime has read the checkpoint that the agent reported. */
export const checkpointRead = (state: HeartbeatState, read: Checkpoint): HeartbeatState =>
  state.latest.checkpoint?.checkpoint_id === read.checkpoint_id
    ? { ...state, latest: { ...state.latest, checkpoint: read } }
    : state;

/** Reports and output arrive separately. On a busy host a report from before a question may be read so much later, milliseconds. */
export const REPORT_LAG_MS = 2000;

const asksNow = (state: HeartbeatState, { asks }: TerminalFacts): boolean =>
  asks !== null && asks.since + REPORT_LAG_MS >= (state.reportedAt ?? 0);

const activityOf = (state: HeartbeatState, facts: TerminalFacts): Heartbeat['activity'] => {
  if (facts.ending) return 'exiting';
  if (facts.paused) return 'paused';
  if (facts.screen.activity === 'awaiting_input' || asksNow(state, facts)) return 'awaiting_input';
  return state.latest.activity ?? facts.screen.activity ?? (facts.hasAsked ? 'working' : null);
};

const waitingFor = (state: HeartbeatState, facts: TerminalFacts): Heartbeat['waiting_for'] => {
  const { waitingFor: shown, since } = facts.screen;
  if (shown !== null) return { ...shown, since };
  const { asks } = facts;
  const question = asks !== null && asksNow(state, facts) ? { kind: 'question' as const, ...asks } : null;
  return question ?? state.latest.waiting_for ?? null;
};

const lastCallOf = (state: HeartbeatState): number | null =>
  state.toolCalls.reduce((last, { started_at }) => Math.max(last, started_at ?? 0), state.latest.last_tool_call ?? 0) ||
  null;

/** A sub-agent has no terminal of its own. */
const outputOf = (state: HeartbeatState, facts: TerminalFacts): NonNullable<Heartbeat['output']> => ({
  last_output_at: facts.isSilenceKnown ? facts.lastOutputAt : null,
  lines: facts.isSilenceKnown ? facts.lines : null,
  matched_patterns: state.matched,
  repeated_error: facts.repeatedError,
  shown_errors: state.shownErrors,
  result_at: facts.resultAt,
  completion_signal_at: facts.completionAt,
  tail: facts.tail,
});

const heartbeat = (
  state: HeartbeatState,
  who: Identity,
  facts: TerminalFacts,
  now: number,
  intervalMs: number,
): Heartbeat => ({
  agent_id: who.agentId,
  task_id: who.taskId,
  timestamp: now,
  phase: state.latest.phase ?? 'running',
  last_tool_call: lastCallOf(state),
  token_count: state.latest.token_count ?? null,
  error_count: state.latest.error_count ?? 0,
  progress_indicator: state.latest.progress_indicator ?? 'running',
  instance_id: who.instanceId,
  sequence: nextSequence(state),
  reporter: 'runtime',
  agent_heartbeat_at: state.reportedAt,
  interval_ms: intervalMs,
  event_driven: false,
  ingress: null,
  verified: null,
  policy: who.policy,
  labels: who.labels,
  runtime_id: who.runtimeId,
  attempt: who.attempt,
  max_attempts: who.maxAttempts,
  activity: activityOf(state, facts),
  waiting_for: waitingFor(state, facts),
  turn: state.latest.turn ?? null,
  parent_agent_id: who.parentAgentId,
  client: state.latest.client ?? null,
  tool_calls: state.toolCalls,
  breakers: state.latest.breakers ?? [],
  reports_checkpoints: state.latest.reports_checkpoints ?? (state.latest.checkpoint ? true : null),
  checkpoint: state.latest.checkpoint ?? null,
  usage: state.latest.usage ?? [],
  cost_usd: state.latest.cost_usd ?? null,
  context: state.latest.context ?? null,
  work: newerWork(state.latest.work ?? null, facts.work),
  output: who.parentAgentId === null ? outputOf(state, facts) : null,
  steps: state.latest.steps ?? null,
  errors: state.errors,
  rate_limit: state.once.rate_limit ?? null,
  limits: [...facts.limits, ...(state.latest.limits ?? [])].slice(0, MOST_LIMITS),
  handoff: state.once.handoff ?? null,
  blockers: state.once.blockers ?? [],
  probe_reply: state.once.probe_reply ?? null,
  exit: null,
});

/** After a rate limit that has ended a turn, the client stands at its prompt. */
const afterLimit = ({ turn }: ReportedFields): Heartbeat['activity'] =>
  turn?.open === false ? 'awaiting_input' : 'working';

/**
 * A rate limit is reported once, with the heartbeat after the report: an agent that has fallen silent since must not
 * stay exempt. `verdicts` are reported once, too.
 */
const afterSending = (latest: ReportedFields): ReportedFields => {
  const { activity, steps, last_tool_call: _, ...rest } = latest;
  return {
    ...rest,
    ...(activity === undefined ? {} : { activity: activity === 'rate_limited' ? afterLimit(latest) : activity }),
    ...(steps ? { steps: { ...steps, verdicts: [] } } : {}),
  };
};

/** Puts the next heartbeat in flight; one that already is stays unchanged. */
export const nextHeartbeat = (
  state: HeartbeatState,
  who: Identity,
  facts: TerminalFacts,
  now: number,
  intervalMs: number,
): HeartbeatState => {
  if (state.inFlight !== null) return state;
  const inFlight = heartbeat(state, who, facts, now, intervalMs);
  const latest = { ...afterSending(state.latest), last_tool_call: inFlight.last_tool_call };
  return {
    ...noHeartbeats,
    sequence: nextSequence(state),
    latest,
    reportedAt: state.reportedAt,
    runningCalls: runningAfter(state),
    inFlight,
  };
};

/** The gateway has answered, for good or ill: the next may go. */
export const answered = (state: HeartbeatState): HeartbeatState => ({ ...state, inFlight: null });
