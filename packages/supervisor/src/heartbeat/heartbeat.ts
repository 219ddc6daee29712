import type {
  Checkpoint,
  ErrorReport,
  Heartbeat,
  LimitReport,
  MatchedPattern,
  RepeatedError,
  ToolCall,
  WorkItem,
} from '@vigil/events';
import type { ReportedFields } from '../messages/agent-report.ts';
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

/** Lists are what no accepted heartbeat has carried yet; one heartbeat is on its way at a time, unchanged until answered. */
export type HeartbeatState = {
  readonly sequence: number;
  readonly latest: ReportedFields;
  readonly reportedAt: number | null;
  readonly toolCalls: readonly ToolCall[];
  readonly errors: readonly ErrorReport[];
  readonly matched: readonly MatchedPattern[];
  readonly once: Pick<ReportedFields, 'handoff' | 'blockers' | 'probe_reply' | 'rate_limit'>;
  readonly inFlight: Heartbeat | null;
};

export const noHeartbeats: HeartbeatState = {
  sequence: 0,
  latest: {},
  reportedAt: null,
  toolCalls: [],
  errors: [],
  matched: [],
  once: {},
  inFlight: null,
};

/** A list that cannot be sent keeps the newest entries: as many as one heartbeat may carry. */
const atMost = 100;
/** As many as a heartbeat may carry. */
const mostLimits = 20;
const bounded = <T>(list: readonly T[]): readonly T[] => list.slice(-atMost);

/** A call reported twice before it was sent is sent once, as it is now. */
const withCalls = (known: readonly ToolCall[], calls: readonly ToolCall[]): readonly ToolCall[] => {
  const renewed = new Set(calls.map((call) => call.call_id));
  return bounded([...known.filter((call) => !renewed.has(call.call_id)), ...calls]);
};

/** The sequence of the heartbeat that will carry the next report. */
export const nextSequence = (heartbeatState: HeartbeatState): number => heartbeatState.sequence + 1;

/** The client that reported this is gone without an end: what the terminal shows counts again. `reportedAt`: its last report. */
export const clientGone = (heartbeatState: HeartbeatState, reportedAt: number | null): HeartbeatState => {
  const { activity: _, ...latest } = heartbeatState.latest;
  return { ...heartbeatState, reportedAt, latest: { ...latest, turn: null, waiting_for: null } };
};

/** `verdicts` that are not yet sent stay. */
const stepsOf = ({ steps: before }: ReportedFields, { steps: now }: ReportedFields): Pick<ReportedFields, 'steps'> =>
  now && before ? { steps: { ...now, verdicts: bounded([...before.verdicts, ...now.verdicts]) } } : {};

export const withReport = (heartbeatState: HeartbeatState, report: ReportedFields, at: number): HeartbeatState => {
  const { tool_calls = [], errors = [], handoff, blockers, probe_reply, rate_limit, ...lasting } = report;
  const given = Object.entries({ handoff, blockers, probe_reply, rate_limit }).filter(
    ([, value]) => value !== undefined,
  );
  return {
    ...heartbeatState,
    latest: { ...heartbeatState.latest, ...lasting, ...stepsOf(heartbeatState.latest, lasting) },
    reportedAt: at,
    toolCalls: withCalls(heartbeatState.toolCalls, tool_calls),
    errors: bounded([...heartbeatState.errors, ...errors]),
    once: { ...heartbeatState.once, ...Object.fromEntries(given) },
  };
};

/** Of each pattern the newest match: one on every line pushes no other out. */
export const matched = (heartbeatState: HeartbeatState, patterns: readonly MatchedPattern[]): HeartbeatState => {
  const newest = new Map([...heartbeatState.matched, ...patterns].map((one) => [`${one.kind} ${one.source}`, one]));
  return { ...heartbeatState, matched: bounded([...newest.values()]) };
};

/** The runtime has read the checkpoint that the agent reported. */
export const checkpointRead = (heartbeatState: HeartbeatState, read: Checkpoint): HeartbeatState =>
  heartbeatState.latest.checkpoint?.checkpoint_id === read.checkpoint_id
    ? { ...heartbeatState, latest: { ...heartbeatState.latest, checkpoint: read } }
    : heartbeatState;

/** Reports and output arrive separately. On a busy host a report from before a question may be read so much later, milliseconds. */
export const reportLagMs = 2000;

const asksNow = (heartbeatState: HeartbeatState, { asks }: TerminalFacts): boolean =>
  asks !== null && asks.since + reportLagMs >= (heartbeatState.reportedAt ?? 0);

const activityOf = (heartbeatState: HeartbeatState, facts: TerminalFacts): Heartbeat['activity'] => {
  if (facts.ending) return 'exiting';
  if (facts.paused) return 'paused';
  if (facts.screen.activity === 'awaiting_input' || asksNow(heartbeatState, facts)) return 'awaiting_input';
  return heartbeatState.latest.activity ?? facts.screen.activity ?? (facts.hasAsked ? 'working' : null);
};

const waitingFor = (heartbeatState: HeartbeatState, facts: TerminalFacts): Heartbeat['waiting_for'] => {
  const { waitingFor: shown, since } = facts.screen;
  if (shown !== null) return { ...shown, since };
  const { asks } = facts;
  const question = asks !== null && asksNow(heartbeatState, facts) ? { kind: 'question' as const, ...asks } : null;
  return question ?? heartbeatState.latest.waiting_for ?? null;
};

const lastCallOf = (heartbeatState: HeartbeatState): number | null =>
  heartbeatState.toolCalls.reduce(
    (last, { started_at }) => Math.max(last, started_at ?? 0),
    heartbeatState.latest.last_tool_call ?? 0,
  ) || null;

/** A sub-agent has no terminal of its own. */
const outputOf = (heartbeatState: HeartbeatState, facts: TerminalFacts): NonNullable<Heartbeat['output']> => ({
  last_output_at: facts.isSilenceKnown ? facts.lastOutputAt : null,
  lines: facts.isSilenceKnown ? facts.lines : null,
  matched_patterns: heartbeatState.matched,
  repeated_error: facts.repeatedError,
  result_at: facts.resultAt,
  completion_signal_at: facts.completionAt,
  tail: facts.tail,
});

const heartbeat = (
  heartbeatState: HeartbeatState,
  who: Identity,
  facts: TerminalFacts,
  now: number,
  intervalMs: number,
): Heartbeat => ({
  agent_id: who.agentId,
  task_id: who.taskId,
  timestamp: now,
  phase: heartbeatState.latest.phase ?? 'running',
  last_tool_call: lastCallOf(heartbeatState),
  token_count: heartbeatState.latest.token_count ?? null,
  error_count: heartbeatState.latest.error_count ?? 0,
  progress_indicator: heartbeatState.latest.progress_indicator ?? 'running',
  instance_id: who.instanceId,
  sequence: nextSequence(heartbeatState),
  reporter: 'runtime',
  agent_heartbeat_at: heartbeatState.reportedAt,
  interval_ms: intervalMs,
  event_driven: false,
  ingress: null,
  policy: who.policy,
  labels: who.labels,
  runtime_id: who.runtimeId,
  attempt: who.attempt,
  max_attempts: who.maxAttempts,
  activity: activityOf(heartbeatState, facts),
  waiting_for: waitingFor(heartbeatState, facts),
  turn: heartbeatState.latest.turn ?? null,
  parent_agent_id: who.parentAgentId,
  client: heartbeatState.latest.client ?? null,
  tool_calls: heartbeatState.toolCalls,
  breakers: heartbeatState.latest.breakers ?? [],
  reports_checkpoints: heartbeatState.latest.reports_checkpoints ?? (heartbeatState.latest.checkpoint ? true : null),
  checkpoint: heartbeatState.latest.checkpoint ?? null,
  usage: heartbeatState.latest.usage ?? [],
  cost_usd: heartbeatState.latest.cost_usd ?? null,
  context: heartbeatState.latest.context ?? null,
  work: newerWork(heartbeatState.latest.work ?? null, facts.work),
  output: who.parentAgentId === null ? outputOf(heartbeatState, facts) : null,
  steps: heartbeatState.latest.steps ?? null,
  errors: heartbeatState.errors,
  rate_limit: heartbeatState.once.rate_limit ?? null,
  limits: [...facts.limits, ...(heartbeatState.latest.limits ?? [])].slice(0, mostLimits),
  handoff: heartbeatState.once.handoff ?? null,
  blockers: heartbeatState.once.blockers ?? [],
  probe_reply: heartbeatState.once.probe_reply ?? null,
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
  heartbeatState: HeartbeatState,
  who: Identity,
  facts: TerminalFacts,
  now: number,
  intervalMs: number,
): HeartbeatState => {
  if (heartbeatState.inFlight !== null) return heartbeatState;
  const inFlight = heartbeat(heartbeatState, who, facts, now, intervalMs);
  const latest = { ...afterSending(heartbeatState.latest), last_tool_call: inFlight.last_tool_call };
  return {
    ...noHeartbeats,
    sequence: nextSequence(heartbeatState),
    latest,
    reportedAt: heartbeatState.reportedAt,
    inFlight,
  };
};

/** The gateway has answered, for good or ill: the next may go. */
export const answered = (heartbeatState: HeartbeatState): HeartbeatState => ({ ...heartbeatState, inFlight: null });
