import { type Draft, type Evidence, type StallReason, type Topic, usableCheckpoints } from '@vigil/events';
import { pathOf } from '../checkpoints/checkpoints.ts';
import { assigneeOf, confirmedAssignees } from '../task/instances.ts';
import { type Healthcheck, isBad, type Recovery, type Situation } from '../task/state.ts';

type Stall = Exclude<StallReason, 'UNKNOWN'>;

const SILENCE = /no_(heartbeat|activity|calls|output|checkpoint|completion)|call_overdue|inactivity|silent/;
/** The words of evidence: after the death of an agent, only these are left. */
const SILENCE_IN_WORDS = /\b(no|nothing|not|untouched)\b[^;]* for \d/;

/** omniclaude's three reasons, in its order of priority, from the names and words of a policy's signals. */
const reasons: readonly (readonly [Stall, RegExp])[] = [
  ['inactivity', new RegExp(`${SILENCE.source}|${SILENCE_IN_WORDS.source}`, 'i')],
  ['context_overflow', /context/i],
  ['rate_limit', /rate.?limit/i],
];

export const stallOf = (text: string): Stall | null => reasons.find(([, pattern]) => pattern.test(text))?.[0] ?? null;

/** A policy chooses the names of its signals, so every signal of absence means inactivity. */
export const stallFrom = (evidence: readonly Evidence[]): Stall | null =>
  evidence.some((one) => one.axis === 'absence') ? 'inactivity' : stallOf(evidence.map((one) => one.signal).join(' '));

/** omniclaude's event, flat, on each change of status, checkpoint or action, where the policy emits it. */
export const healthcheck = (state: Recovery, now: number): readonly Draft<typeof Topic.agentHealthcheck>[] => {
  const { subject, emitted } = state;
  const view = viewOf(state);
  if (!view || isSame(view, emitted.healthcheck)) return [];
  const of = assigneeOf(state, view.agentId) ?? subject;
  const payload = {
    type: 'agent_healthcheck',
    ticket_id: state.taskId,
    agent_id: view.agentId,
    status: view.status,
    stall_reason: view.status === 'healthy' ? null : (of?.stall ?? subject?.stall ?? null),
    idle_minutes: of?.idleMinutes ?? null,
    context_usage_pct: of?.contextUsagePct ?? null,
    checkpoint_path: view.path,
    recovery_action: view.action,
    timestamp_utc: `${new Date(now).toISOString().slice(0, 19)}Z`,
  } as const;
  return [{ topic: 'onex.evt.omniclaude.agent-healthcheck.v1', type: 'AGENT_HEALTHCHECK', key: state.taskId, payload }];
};

const isSame = (view: Healthcheck, emitted: Healthcheck | null): boolean =>
  emitted !== null && emitted.status === view.status && emitted.path === view.path && emitted.action === view.action;

type View = Healthcheck & {
  readonly status: 'stalled' | 'recovered' | 'healthy';
  readonly action: 'relaunch_fresh_agent' | 'none';
  readonly agentId: string;
};

/** `relaunched`: the order to spawn the next agent is out. Before that no action has been taken. */
const relaunched = { status: 'stalled', action: 'relaunch_fresh_agent' } as const;
const stalled = { status: 'stalled', action: 'none' } as const;
const recovered = { status: 'recovered', action: 'none' } as const;
const healthy = { status: 'healthy', action: 'none' } as const;

const viewOf = (state: Recovery): View | null => {
  const { situation, subject } = state;
  const path = pathOf(usableCheckpoints(state.checkpoints).from[0]);
  if (situation.kind === 'idle') return state.emitsHealthcheck ? untouched(state, path) : null;
  return subject?.settings.emitHealthcheck ? recovering(situation, path, subject.agentId) : null;
};

/** No recovery is under way: a stall is reported, and so is its end. Health alone is reported only after an earlier report. */
const untouched = (state: Recovery, path: string | null): View | null => {
  const assignee = confirmedAssignees(state).at(-1);
  if (!assignee) return null;
  const { agentId } = assignee;
  if (isBad(assignee.state)) return { ...stalled, path, agentId };
  return assignee.state === 'HEALTHY' && state.emitted.healthcheck ? { ...healthy, path, agentId } : null;
};

const recovering = (situation: Situation, path: string | null, dead: string): View | null => {
  switch (situation.kind) {
    case 'waiting':
    case 'requesting':
    case 'admitted':
    case 'review':
      return { ...stalled, path, agentId: dead };
    case 'spawning':
      return { ...relaunched, path, agentId: dead };
    case 'probation':
      return { ...(situation.failing === null ? recovered : stalled), path, agentId: situation.attempt.agentId };
    case 'stable':
      return { ...(situation.since === null ? stalled : healthy), path, agentId: situation.attempt.agentId };
    case 'refused':
    case 'idle':
    case 'over':
      return null;
  }
};
