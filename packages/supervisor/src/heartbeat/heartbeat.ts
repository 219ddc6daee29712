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
import type { Said } from '../messages/agent-report.ts';
import type { ScreenReport } from '../screen/waiting.ts';
import { newerWork } from './work-source.ts';

/** Who beats, for whom; fixed for the life of an instance. */
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
  /** the agent whose sub-agent it is; null: it is none */
  readonly parentAgentId: string | null;
};

/** What the terminal shows at the moment of a beat; times in epoch milliseconds. */
export type TerminalFacts = {
  readonly lastOutputAt: number | null;
  readonly lines: number;
  readonly repeatedError: RepeatedError | null;
  readonly completionAt: number | null;
  readonly resultAt: number | null;
  /** the last lines, where the policy asks for them */
  readonly tail: readonly string[];
  /** the question in the line of the cursor, and since when it waits for the answer; null: it asks nothing */
  readonly asks: { readonly since: number; readonly text: string } | null;
  /** it has asked something before: what it asks no more is answered */
  readonly hasAsked: boolean;
  /** silence of its terminal is silence of the agent; false: it draws a screen, or works in silence */
  readonly isSilenceKnown: boolean;
  /** what a client shows, and since when */
  readonly screen: ScreenReport & { readonly since: number };
  /** stopped by an order, until it is resumed */
  readonly paused: boolean;
  /** it is being ended: what it reports on the way is not what it would do */
  readonly ending: boolean;
  /** what it may use here, and uses */
  readonly limits: readonly LimitReport[];
  /** as the host's tracker has it */
  readonly work: WorkItem | null;
};

/** Lists are what no accepted heartbeat has carried yet; one heartbeat is on its way at a time, unchanged until answered. */
export type Beats = {
  readonly sequence: number;
  readonly latest: Said;
  readonly saidAt: number | null;
  readonly toolCalls: readonly ToolCall[];
  readonly errors: readonly ErrorReport[];
  readonly matched: readonly MatchedPattern[];
  readonly once: Pick<Said, 'handoff' | 'blockers' | 'probe_reply' | 'rate_limit'>;
  readonly onItsWay: Heartbeat | null;
};

export const noBeats: Beats = {
  sequence: 0,
  latest: {},
  saidAt: null,
  toolCalls: [],
  errors: [],
  matched: [],
  once: {},
  onItsWay: null,
};

/** A list that nobody takes keeps the newest: as many as one heartbeat may carry. */
const atMost = 100;
/** As many as a heartbeat may carry. */
const mostLimits = 20;
const bounded = <T>(list: readonly T[]): readonly T[] => list.slice(-atMost);

/** A call reported twice before it was sent is sent once, as it is now. */
const withCalls = (known: readonly ToolCall[], calls: readonly ToolCall[]): readonly ToolCall[] => {
  const renewed = new Set(calls.map((call) => call.call_id));
  return bounded([...known.filter((call) => !renewed.has(call.call_id)), ...calls]);
};

/** The sequence of the heartbeat that will carry what is said now. */
export const nextSequence = (beats: Beats): number => beats.sequence + 1;

/** The client that reported this is gone, without a word: what the terminal shows counts again. `saidAt`: when it last reported. */
export const clientGone = (beats: Beats, saidAt: number | null): Beats => {
  const { activity: _, ...latest } = beats.latest;
  return { ...beats, saidAt, latest: { ...latest, turn: null, waiting_for: null } };
};

/** Verdicts that are not yet sent stay. */
const stepsOf = ({ steps: before }: Said, { steps: now }: Said): Pick<Said, 'steps'> =>
  now && before ? { steps: { ...now, verdicts: bounded([...before.verdicts, ...now.verdicts]) } } : {};

export const said = (beats: Beats, words: Said, at: number): Beats => {
  const { tool_calls = [], errors = [], handoff, blockers, probe_reply, rate_limit, ...lasting } = words;
  const given = Object.entries({ handoff, blockers, probe_reply, rate_limit }).filter(
    ([, value]) => value !== undefined,
  );
  return {
    ...beats,
    latest: { ...beats.latest, ...lasting, ...stepsOf(beats.latest, lasting) },
    saidAt: at,
    toolCalls: withCalls(beats.toolCalls, tool_calls),
    errors: bounded([...beats.errors, ...errors]),
    once: { ...beats.once, ...Object.fromEntries(given) },
  };
};

/** Of each pattern the newest match: one on every line pushes no other out. */
export const matched = (beats: Beats, patterns: readonly MatchedPattern[]): Beats => {
  const newest = new Map([...beats.matched, ...patterns].map((one) => [`${one.kind} ${one.source}`, one]));
  return { ...beats, matched: bounded([...newest.values()]) };
};

/** The runtime has read the checkpoint that the agent reported. */
export const checkpointRead = (beats: Beats, read: Checkpoint): Beats =>
  beats.latest.checkpoint?.checkpoint_id === read.checkpoint_id
    ? { ...beats, latest: { ...beats.latest, checkpoint: read } }
    : beats;

/** Words and output come by two ways: on a busy host, what was said before a question may be read so much later than the question, milliseconds. */
export const wordsLagMs = 2000;

const asksNow = (beats: Beats, { asks }: TerminalFacts): boolean =>
  asks !== null && asks.since + wordsLagMs >= (beats.saidAt ?? 0);

const activityOf = (beats: Beats, facts: TerminalFacts): Heartbeat['activity'] => {
  if (facts.ending) return 'exiting';
  if (facts.paused) return 'paused';
  if (facts.screen.activity === 'awaiting_input' || asksNow(beats, facts)) return 'awaiting_input';
  return beats.latest.activity ?? facts.screen.activity ?? (facts.hasAsked ? 'working' : null);
};

const waitingFor = (beats: Beats, facts: TerminalFacts): Heartbeat['waiting_for'] => {
  const { waitingFor: shown, since } = facts.screen;
  if (shown !== null) return { ...shown, since };
  const { asks } = facts;
  const question = asks !== null && asksNow(beats, facts) ? { kind: 'question' as const, ...asks } : null;
  return question ?? beats.latest.waiting_for ?? null;
};

const lastCallOf = (beats: Beats): number | null =>
  beats.toolCalls.reduce((last, { started_at }) => Math.max(last, started_at ?? 0), beats.latest.last_tool_call ?? 0) ||
  null;

/** A sub-agent has no terminal of its own. */
const outputOf = (beats: Beats, facts: TerminalFacts): NonNullable<Heartbeat['output']> => ({
  last_output_at: facts.isSilenceKnown ? facts.lastOutputAt : null,
  lines: facts.isSilenceKnown ? facts.lines : null,
  matched_patterns: beats.matched,
  repeated_error: facts.repeatedError,
  result_at: facts.resultAt,
  completion_signal_at: facts.completionAt,
  tail: facts.tail,
});

const heartbeat = (beats: Beats, who: Identity, facts: TerminalFacts, now: number, intervalMs: number): Heartbeat => ({
  agent_id: who.agentId,
  task_id: who.taskId,
  timestamp: now,
  phase: beats.latest.phase ?? 'running',
  last_tool_call: lastCallOf(beats),
  token_count: beats.latest.token_count ?? null,
  error_count: beats.latest.error_count ?? 0,
  progress_indicator: beats.latest.progress_indicator ?? 'running',
  instance_id: who.instanceId,
  sequence: nextSequence(beats),
  reporter: 'runtime',
  agent_beat_at: beats.saidAt,
  interval_ms: intervalMs,
  event_driven: false,
  door: null,
  policy: who.policy,
  labels: who.labels,
  runtime_id: who.runtimeId,
  attempt: who.attempt,
  max_attempts: who.maxAttempts,
  activity: activityOf(beats, facts),
  waiting_for: waitingFor(beats, facts),
  turn: beats.latest.turn ?? null,
  parent_agent_id: who.parentAgentId,
  client: beats.latest.client ?? null,
  tool_calls: beats.toolCalls,
  breakers: beats.latest.breakers ?? [],
  reports_checkpoints: beats.latest.reports_checkpoints ?? (beats.latest.checkpoint ? true : null),
  checkpoint: beats.latest.checkpoint ?? null,
  usage: beats.latest.usage ?? [],
  cost_usd: beats.latest.cost_usd ?? null,
  context: beats.latest.context ?? null,
  work: newerWork(beats.latest.work ?? null, facts.work),
  output: who.parentAgentId === null ? outputOf(beats, facts) : null,
  steps: beats.latest.steps ?? null,
  errors: beats.errors,
  rate_limit: beats.once.rate_limit ?? null,
  limits: [...facts.limits, ...(beats.latest.limits ?? [])].slice(0, mostLimits),
  handoff: beats.once.handoff ?? null,
  blockers: beats.once.blockers ?? [],
  probe_reply: beats.once.probe_reply ?? null,
  exit: null,
});

/** After a rate limit that has ended a turn, the client stands at its prompt. */
const afterLimit = ({ turn }: Said): Heartbeat['activity'] => (turn?.open === false ? 'awaiting_input' : 'working');

/**
 * A rate limit is reported when it is said, not for ever after: an agent that has fallen silent since must not stay
 * exempt. So are verdicts: they are new once.
 */
const afterSaying = (latest: Said): Said => {
  const { activity, steps, last_tool_call: _, ...rest } = latest;
  return {
    ...rest,
    ...(activity === undefined ? {} : { activity: activity === 'rate_limited' ? afterLimit(latest) : activity }),
    ...(steps ? { steps: { ...steps, verdicts: [] } } : {}),
  };
};

/** The next heartbeat, on its way from now on; one that is on its way already stays as it is. */
export const beat = (beats: Beats, who: Identity, facts: TerminalFacts, now: number, intervalMs: number): Beats => {
  if (beats.onItsWay !== null) return beats;
  const onItsWay = heartbeat(beats, who, facts, now, intervalMs);
  const latest = { ...afterSaying(beats.latest), last_tool_call: onItsWay.last_tool_call };
  return { ...noBeats, sequence: nextSequence(beats), latest, saidAt: beats.saidAt, onItsWay };
};

/** The gateway has answered, for good or ill: the next may go. */
export const answered = (beats: Beats): Beats => ({ ...beats, onItsWay: null });
