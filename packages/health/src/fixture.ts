import { type AgentHeartbeatPayload, type EventOf, parseHeartbeat, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { loadPolicy, PRESETS, readPolicies } from '@vigil/policy';
import type { Clock } from '@vigil/stream';
import { clockAt } from '@vigil/stream/testing';
import type { Announcement } from './evaluator/health.ts';
import { searched } from './evaluator/observe.ts';
import { breakersAfter } from './history/calls/breakers.ts';
import { type History, historyAfter, initialHistory } from './history/history.ts';
import { identityOf } from './history/identity.ts';
import { type Judging, type Receipt, unexcused } from './history/moment.ts';
import type { LookedFor } from './history/presence/matches.ts';
import { withWaits } from './judgement/judge.ts';
import { type Policies, policiesOf } from './judgement/policies.ts';
import type { Rules } from './judgement/rules.ts';
import { RATE_LIMIT_PATTERNS } from './signals/patterns.ts';
import { VOCABULARY } from './vocabulary.ts';

/** For tests: heartbeats, histories and policies, without servers or files but the presets. */
export const T0: number = EXAMPLE_TIME;

export type HeartbeatPayload = AgentHeartbeatPayload;
export type Call = HeartbeatPayload['tool_calls'][number];
type Heartbeat = Extract<EventOf<typeof Topic.agentObservation>, { type: 'AGENT_HEARTBEAT' }>;

/** The eight fields of CODITECT (`ADR-110`) and the ids of the instance, as an agent itself sends them. */
export const BARE: HeartbeatPayload = parseHeartbeat({
  agent_id: 'a1',
  task_id: 'T-1',
  timestamp: T0,
  phase: 'implement',
  last_tool_call: null,
  token_count: 0,
  error_count: 0,
  progress_indicator: '0',
  instance_id: 'a1.i1',
  runtime_id: 'host-1',
});

/** A heartbeat received at `ms` after T0. Its own time is the same moment unless given. */
export const heartbeat = (ms: number, more: Partial<HeartbeatPayload> = {}): Heartbeat => {
  const payload = { ...BARE, timestamp: T0 + ms, ...more };
  const it = example(Topic.agentObservation, 'AGENT_HEARTBEAT');
  return { ...it, eventId: `e${ms}`, correlationId: `c${ms}`, key: payload.agent_id, payload };
};

export const call = (id: string, more: Partial<Call> = {}): Call => ({
  call_id: id,
  kind: 'tool',
  tool: 'bash',
  args_hash: 'args',
  result_hash: 'result',
  masked_result_hash: null,
  outcome: 'ok',
  error_class: null,
  started_at: null,
  ended_at: null,
  deadline_at: null,
  mutating: false,
  polling: false,
  checking: false,
  target: null,
  ...more,
});

/** CODITECT's limits. */
const of = (failureThreshold: number, seconds: number) => ({
  ...{ failureThreshold, halfOpenRequests: 1 },
  recoveryTimeoutMs: seconds * 1000,
});
const usual = { tool_execution: of(5, 30), checkpoint_write: of(3, 120), external_api: of(3, 60) };

/** The history after heartbeats at the given times, for a policy with these patterns, and the exemptions of `rules`. */
export const history = (
  heartbeats: readonly (readonly [ms: number, more: Partial<HeartbeatPayload>])[],
  { rateLimits = RATE_LIMIT_PATTERNS, others = [], together = [] }: Partial<LookedFor> = {},
  rules: Pick<Rules, 'waiting'> = { waiting: [] },
): History => {
  let h: History | null = null;
  for (const [ms, more] of heartbeats) {
    const payload = heartbeat(ms, more).payload;
    const now = T0 + ms;
    const receipt: Receipt = { now, watched: now, stamp: payload.timestamp, previous: h?.lastReceipt ?? null };
    if (h !== null) h = withWaits(rules, h, receipt);
    h = historyAfter(h ?? initialHistory(identityOf(payload), receipt, 'c'), payload, receipt, 'c');
    const breakers = breakersAfter(h.breakers, payload, receipt, usual);
    h = { ...h, breakers, ...searched(h, { rateLimits, others, together }, payload, receipt) };
  }
  if (h === null) throw new Error('give at least one heartbeat');
  return h;
};

/** The time of a judgement that nothing excuses, everything watched. */
export const judgedAt = (now: number): Judging => unexcused({ now, watched: now });

export const at = (ms: number): Clock => clockAt(T0 + ms);

const presets = readPolicies([PRESETS], VOCABULARY);
/** The presets, with `name` as the default. */
export const presetsWith = (name: string): Policies => policiesOf(presets, name);

/** A policy of one test, as text. */
export const policyOf = (yaml: string): Policies => {
  const policy = loadPolicy(yaml, 'test.yaml', VOCABULARY);
  return policiesOf([policy], policy.name);
};

/** The announcements, short enough to compare: their names and main fields. */
export const brief = (emitted: readonly Announcement[]): string[] => emitted.map(briefly);

const briefly = (event: Announcement): string => {
  switch (event.type) {
    case 'HEALTH_STATE_CHANGED':
      return `${event.payload.from} → ${event.payload.to}`;
    case 'EXEMPTION_CHANGED':
      return `exempt: ${event.payload.to}`;
    case 'WAIT_OVERDUE':
      return `WAIT_OVERDUE ${event.payload.text}`;
    case 'CLOCK_DRIFTED':
      return `CLOCK_DRIFTED ${event.payload.driftMs}`;
    case 'CLOCK_DRIFT_ENDED':
      return `CLOCK_DRIFT_ENDED ${event.payload.why}`;
    case 'WAIT_ENDED':
      return `WAIT_ENDED ${event.payload.why}`;
    case 'WARRANT_FILED':
    case 'WARRANT_RENEWED':
      return `${event.type} ${event.payload.state}`;
    case 'WARRANT_LAPSED':
    case 'AGENT_PRESENT':
    case 'AGENT_LOST':
      return `${event.type} ${event.payload.why}`;
    case 'AGENT_SPENT':
      return `AGENT_SPENT ${event.payload.scope} ${event.payload.scopeId}: ${event.payload.tokens}`;
    case 'TASK_HEALTH_CHANGED':
      return `${event.payload.taskId} ${event.payload.hold}: ${event.payload.to}`;
    case 'AGENT_ANSWERED':
      return `AGENT_ANSWERED ${event.payload.how}`;
    case 'BREAKER_RESET_ASKED':
      return `reset of ${event.payload.name} asked`;
    case 'HOLD_CHANGED':
      return event.payload.held ? 'held' : 'released';
    case 'HOLD_REFUSED':
      return `HOLD_REFUSED ${event.payload.reason}`;
    case 'CONTROL_APPLIED':
      return `${event.payload.control} applied`;
    case 'CONTROL_REFUSED':
      return `CONTROL_REFUSED ${event.payload.reason}`;
    case 'WORKER_ESCALATION_TICKET':
      return `${event.type} ${event.payload.ticket.severity}`;
    case 'CIRCUIT_BREAKER_STATE_CHANGED':
      return `${event.payload.name} ${event.payload.from} → ${event.payload.to}`;
    case 'INSTANCE_STARTED':
    case 'DUPLICATE_INSTANCE':
      return event.type;
  }
};
