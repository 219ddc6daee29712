import { type AgentHeartbeatPayload, type PayloadOf, principalText, type Topic } from '@vigil/events';
import { register, type Statement } from '@vigil/read-model';
import { calls } from './calls.ts';
import {
  type Handlers,
  history,
  historyOnly,
  journal,
  journalOnly,
  type Placed,
  policyOf,
  prefixed,
} from './handlers.ts';
import { breaker } from './tasks.ts';

type Observation = typeof Topic.agentObservation;

/** Observations have no versions, so the log orders them. */
export const agentObservation: Handlers<Observation> = {
  AGENT_HEARTBEAT: (event) => [
    heartbeat(event),
    ...samples(event),
    ...calls(event),
    ...output(event),
    ...errors(event),
    ...terminalErrors(event),
  ],
  AGENT_EXITED: (event) => [history(event), exit(event)],
  TERMINAL_USED: journalOnly,
  HOLD_AGENT: journalOnly,
  RELEASE_AGENT: journalOnly,
  CONFIRM_DEATH: journalOnly,
  RESET_BREAKER: journalOnly,
  FILE_TICKET: journalOnly,
};

const heartbeat = (event: Placed<Observation, 'AGENT_HEARTBEAT'>): Statement => {
  const { payload } = event;
  return register(event, 'agents', 'heartbeat', {
    agentId: payload.agent_id,
    heartbeatAt: event.occurredAt,
    heartbeatInstanceId: payload.instance_id,
    heartbeatTaskId: payload.task_id,
    heartbeatRuntimeId: payload.runtime_id,
    heartbeatLabels: payload.labels,
    heartbeatPhase: payload.phase,
    heartbeatProgress: payload.progress_indicator,
    heartbeatActivity: payload.activity,
    heartbeatTokens: payload.token_count,
    heartbeatErrors: payload.error_count,
    heartbeatContextUsed: payload.context?.tokens_used ?? null,
    heartbeatContextMax: payload.context?.tokens_max ?? null,
    heartbeatIngress: payload.ingress,
    heartbeatIntervalMs: payload.interval_ms,
    heartbeatWaitingFor: payload.waiting_for,
    heartbeatClient: payload.client?.name ?? null,
    heartbeatVerified: payload.verified === null ? null : principalText(payload.verified),
  });
};

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The newest heartbeat of its hour and of its minute. Minutes of HEALTHY agents are deleted when their states are known. */
const samples = (event: Placed<Observation, 'AGENT_HEARTBEAT'>): readonly Statement[] => {
  const { payload, occurredAt } = event;
  const values = {
    agentId: payload.agent_id,
    sampledAt: occurredAt,
    instanceId: payload.instance_id,
    taskId: payload.task_id,
    phase: payload.phase,
    activity: payload.activity,
    tokens: payload.token_count,
    errors: payload.error_count,
    contextUsed: payload.context?.tokens_used ?? null,
    contextMax: payload.context?.tokens_max ?? null,
  };
  const begunAt = (ms: number) => occurredAt - (occurredAt % ms);
  return [
    register(event, 'heartbeat_hours', 'sample', { ...values, hourAt: begunAt(HOUR_MS) }),
    register(event, 'heartbeat_minutes', 'sample', { ...values, minuteAt: begunAt(MINUTE_MS) }),
  ];
};

const output = (event: Placed<Observation, 'AGENT_HEARTBEAT'>): readonly Statement[] => {
  const { agent_id: agentId, output: reported } = event.payload;
  if (reported === null) return [];
  // A runtime reports that a new instance has printed nothing: the lines of the previous one go.
  const values = { agentId, outputLastAt: reported.last_output_at, outputTail: reported.tail };
  return [register(event, 'agents', 'output', values)];
};

const readable = (error: AgentHeartbeatPayload['errors'][number]) => ({
  at: error.at,
  count: error.count,
  errorClass: error.error_class,
  message: error.message,
});

const errors = (event: Placed<Observation, 'AGENT_HEARTBEAT'>): readonly Statement[] => {
  const { agent_id: agentId, instance_id: errorsInstanceId, errors: reported } = event.payload;
  if (reported.length === 0) return [];
  return [register(event, 'agents', 'errors', { agentId, errorsInstanceId, errors: reported.map(readable) })];
};

type Output = NonNullable<AgentHeartbeatPayload['output']>;

const ERRORS: ReadonlySet<string> = new Set(['error', 'fatal']);

/** The line that a pattern matched; the pattern itself where the last lines do not have it. */
const matchedLine = ({ lines, tail }: Output, { line, source }: Output['matched_patterns'][number]): string =>
  (lines === null || line === null ? undefined : tail[tail.length - 1 - (lines - line)]) ?? source;

/** Characters of a shown error, as the schema limits them. */
const LONGEST_SHOWN = 200;

/** What the terminal shows, beside the errors that the agent reports. */
const terminalErrors = (event: Placed<Observation, 'AGENT_HEARTBEAT'>): readonly Statement[] => {
  const { agent_id: agentId, instance_id: terminalInstanceId, output: reported } = event.payload;
  if (reported === null) return [];
  const shown = reported.shown_errors.map(({ kind, ...one }) => ({ ...one, errorClass: kind }));
  const texts = new Set(shown.map(({ message }) => message));
  const matched = reported.matched_patterns
    .filter(({ kind }) => ERRORS.has(kind))
    .map((one) => ({ at: one.at, count: 1, errorClass: one.kind, message: matchedLine(reported, one) }))
    .filter(({ message }) => !texts.has(message.trim().slice(0, LONGEST_SHOWN)));
  const terminalErrors = [...shown, ...matched];
  if (terminalErrors.length === 0) return [];
  return [register(event, 'agents', 'terminal', { agentId, terminalInstanceId, terminalErrors })];
};

const exit = (event: Placed<Observation, 'AGENT_EXITED'>): Statement => {
  const { payload } = event;
  return register(event, 'agents', 'exit', {
    agentId: payload.agentId,
    ...prefixed('exit', payload),
    exitAt: event.occurredAt,
  });
};

type Health = typeof Topic.agentHealth;

export const agentHealth: Handlers<Health> = {
  HEALTH_STATE_CHANGED: (event) => [history(event), state(event)],
  EXEMPTION_CHANGED: (event) => [history(event), exemption(event)],
  WAIT_OVERDUE: historyOnly,
  WAIT_ENDED: historyOnly,
  CLOCK_DRIFTED: historyOnly,
  CLOCK_DRIFT_ENDED: historyOnly,
  INSTANCE_STARTED: (event) => [history(event), instance(event)],
  WARRANT_FILED: (event) => [history(event), warrant(event, event.payload)],
  // Renewals are emitted every minute, and are not part of the story.
  WARRANT_RENEWED: (event) => [warrant(event, event.payload)],
  WARRANT_LAPSED: (event) => [history(event), warrant(event, {})],
  DUPLICATE_INSTANCE: (event) => [history(event), duplicate(event)],
  AGENT_ANSWERED: historyOnly,
  BREAKER_RESET_ASKED: historyOnly,
  HOLD_CHANGED: (event) => [journal(event), hold(event)],
  HOLD_REFUSED: journalOnly,
  CONTROL_APPLIED: journalOnly,
  CONTROL_REFUSED: journalOnly,
  CIRCUIT_BREAKER_STATE_CHANGED: (event) => [
    history(event),
    ...breaker(event, event.payload.agentId, event.payload.agentId),
  ],
  WORKER_ESCALATION_TICKET: (event) => [
    history(event),
    register(event, 'tickets', 'filed', {
      ...event.payload,
      ticketId: event.payload.ticket.ticket_id,
      severity: event.payload.ticket.severity,
      filedAt: event.occurredAt,
    }),
  ],
};

const hold = (event: Placed<Health, 'HOLD_CHANGED'>): Statement => {
  const { agentId, held, until, by, why } = event.payload;
  return register(event, 'agents', 'hold', { agentId, held, heldUntil: until, heldBy: by, heldWhy: why });
};

const state = (event: Placed<Health, 'HEALTH_STATE_CHANGED'>): Statement => {
  const { payload } = event;
  return register(event, 'agents', 'state', {
    ...payload,
    ...policyOf(event),
    ...prefixed('state', payload),
    state: payload.to,
    stateSince: event.occurredAt,
  });
};

const exemption = (event: Placed<Health, 'EXEMPTION_CHANGED'>): Statement => {
  const { payload } = event;
  const { agentId, to } = payload;
  const values = { agentId, ...prefixed('exemption', payload), exemption: to, exemptionSince: event.occurredAt };
  return register(event, 'agents', 'exemption', values);
};

const instance = (event: Placed<Health, 'INSTANCE_STARTED'>): Statement => {
  const { payload } = event;
  return register(event, 'agents', 'instance', {
    ...payload,
    ...prefixed('instance', { ...payload, ...policyOf(event) }),
    instancePreviousId: payload.previousInstanceId,
    instanceSince: event.occurredAt,
  });
};

const warrant = (
  event: Placed<Health, 'WARRANT_FILED' | 'WARRANT_RENEWED' | 'WARRANT_LAPSED'>,
  found: Partial<PayloadOf<Health, 'WARRANT_RENEWED'>>,
): Statement => {
  const { agentId, warrantId } = event.payload;
  return register(event, 'agents', 'warrant', {
    agentId,
    warrantId,
    warrantOpen: event.type !== 'WARRANT_LAPSED',
    warrantAt: event.occurredAt,
    warrantPlan: found.planName ?? null,
    warrantAxes: found.axes ?? [],
    warrantLapsedWhy: event.type === 'WARRANT_LAPSED' ? event.payload.why : null,
  });
};

const duplicate = (event: Placed<Health, 'DUPLICATE_INSTANCE'>): Statement => {
  const { payload } = event;
  return register(event, 'agents', 'duplicate', {
    agentId: payload.agentId,
    ...prefixed('duplicate', payload),
    duplicateOtherId: payload.otherInstanceId,
    duplicateAt: event.occurredAt,
  });
};

type Presence = Placed<typeof Topic.fleetPresence, 'AGENT_PRESENT' | 'AGENT_LOST'>;

const sinceOf = ({ payload, occurredAt }: Presence): number =>
  ('presentSince' in payload ? payload.presentSince : null) ?? occurredAt;

/** Emitted again once a day without any change, for a store that started later. */
const isRepeated = ({ payload }: Presence): boolean => payload.why === 'still_present';

const presence = (event: Presence): readonly Statement[] => [
  ...(isRepeated(event) ? [] : [history(event)]),
  register(event, 'agents', 'presence', {
    ...event.payload,
    present: event.type === 'AGENT_PRESENT',
    presenceWhy: event.payload.why,
    presenceSince: sinceOf(event),
  }),
];

export const fleetPresence: Handlers<typeof Topic.fleetPresence> = {
  AGENT_PRESENT: presence,
  AGENT_LOST: presence,
  // There is one record for each use of tokens, and the events of the limits report the consequences.
  AGENT_SPENT: () => [],
};
