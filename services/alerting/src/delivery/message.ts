import type { AlertEvent } from './sink.ts';

type Payload = AlertEvent['payload'];
type Asking = Extract<AlertEvent, { readonly type: 'ALERT_RAISED' | 'ALERT_UPDATED' }>['payload'];

const KINDS = {
  ALERT_RAISED: 'alert.raised',
  ALERT_UPDATED: 'alert.updated',
  ALERT_RESOLVED: 'alert.resolved',
} as const;

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/**
 * The message for machines: the body of a webhook, the input of a command. A repetition has the same `id`. Times are
 * RFC 3339.
 * `dashboardUrl`: where a decision is posted.
 */
export const messageOf = (alert: AlertEvent, dashboardUrl: string) => ({
  type: KINDS[alert.type],
  timestamp: iso(alert.occurredAt),
  data: {
    id: alert.eventId,
    ...headOf(alert.payload),
    policy: alert.policy,
    decision: 'options' in alert.payload ? decisionOf(alert.payload, dashboardUrl) : null,
    checkpoint: 'checkpoint' in alert.payload ? checkpointOf(alert.payload) : null,
    blocked: 'blocked' in alert.payload ? alert.payload.blocked : null,
  },
});

const headOf = (payload: Payload) => ({
  alert_id: payload.alertId,
  alert_key: payload.alertKey,
  route: payload.route,
  severity: payload.severity,
  title: payload.title,
  text: payload.text,
  raised_at: iso(payload.raisedAt),
  agent_id: payload.agentId,
  task_id: payload.taskId,
  case_id: payload.caseId,
  episode_id: payload.episodeId,
  labels: payload.labels,
});

/**
 * The question, its deadline, and how to answer it: `body` is posted to `url` with one of the options as `decision`.
 */
const decisionOf = ({ options, deadlineAt, onTimeout, caseId, taskId }: Asking, dashboardUrl: string) => {
  const about = caseId === null ? taskId && { kind: 'review_task', taskId } : { kind: 'decide_case', caseId };
  if (options.length === 0 || !about) return null;
  return {
    options,
    deadline: iso(deadlineAt),
    on_timeout: onTimeout,
    url: `${dashboardUrl.replace(/\/$/, '')}/v1/commands`,
    method: 'POST',
    body: { ...about, decision: options[0], by: '', why: '' },
  };
};

/** `valid` null: the checkpoint has not been read yet. */
const checkpointOf = ({ checkpoint }: Asking) => {
  if (checkpoint === null) return null;
  const { checkpointId, uri, sha256, valid, invalidReason, createdAt, completedWork, remainingWork } = checkpoint;
  return {
    checkpoint_id: checkpointId,
    uri,
    sha256,
    valid,
    invalid_reason: invalidReason,
    created_at: iso(createdAt),
    completed_work: completedWork,
    remaining_work: remainingWork,
  };
};

/** What agents wrote must not control the terminal that shows it, nor turn its text around. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ');
