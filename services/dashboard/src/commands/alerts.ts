import { parsePayload, Topic } from '@vigil/events';
import { utcTime } from '@vigil/policy';
import type { AlertRow, ReadModel } from '@vigil/read-model';
import { found, Problem } from '../problem.ts';
import type { CommandDraft, Of } from './command.ts';

/** Notifies people of a ticket, also of one that triage has dismissed. `why` is the analysis that they read. */
export const notifyOperator = async (
  { ticketId, urgency, by, why }: Of<'notify_operator'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  const [row] = await model.tickets({ ticketId, limit: 1 });
  const { alertKey } = found(row, 'ticket', ticketId, '`vigil explain AGENT`');
  if (alertKey === null)
    throw new Problem(409, 'not_triaged', `Triage has not decided ticket ${ticketId} yet: try again in a moment.`);
  const payload = { ticket_id: ticketId, analysis: why, urgency, by };
  return { topic: Topic.controlAlerts, type: 'NOTIFY_OPERATOR', key: alertKey, payload };
};

type AlertControl = 'ACKNOWLEDGE_ALERT' | 'RESOLVE_ALERT' | 'SILENCE_ALERTS' | 'TEST_CHANNEL';
export const controlAlerts = (type: AlertControl, key: string, payload: object): CommandDraft =>
  ({
    topic: Topic.controlAlerts,
    type,
    key,
    payload: parsePayload(Topic.controlAlerts, type, payload),
  }) as CommandDraft;

/** An open alert. Throws Problem if it is unknown or over. */
const openAlert = async (alertId: string, model: ReadModel): Promise<AlertRow> => {
  const [known] = (await model.alerts({})).filter((one) => one.alertId === alertId);
  const alert = found(known, 'alert', alertId, '`vigil alert list`');
  if (alert.resolvedAt !== null) throw new Problem(409, 'alert_resolved', `Alert ${alertId} is resolved already.`);
  return alert;
};

/** An open alert that no person has acknowledged since it last changed. Throws Problem otherwise. */
export const unacknowledged = async (alertId: string, model: ReadModel): Promise<AlertRow> => {
  const alert = await openAlert(alertId, model);
  const { acknowledgedAt, acknowledgedBy, updatedAt } = alert;
  if (acknowledgedAt === null || (updatedAt !== null && updatedAt > acknowledgedAt)) return alert;
  const by = `${acknowledgedBy} at ${utcTime(acknowledgedAt)}`;
  throw new Problem(409, 'alert_acknowledged', `Alert ${alertId} was acknowledged by ${by}.`);
};

/** Throws Problem if the alert is unknown or over, or if a person has already acknowledged it. */
export const aboutAlert = async (
  type: 'ACKNOWLEDGE_ALERT' | 'RESOLVE_ALERT',
  { alertId, by, why }: Of<'acknowledge' | 'resolve_alert'>,
  model: ReadModel,
): Promise<CommandDraft> => {
  const alert = await (type === 'ACKNOWLEDGE_ALERT' ? unacknowledged : openAlert)(alertId, model);
  const alertKey = found(alert.alertKey, 'alert', alertId, '`vigil alert list`');
  return controlAlerts(type, alertKey, { alertKey, by, why });
};

/** The silence is set again, until now. */
export const endSilence = async (
  { silenceId, by, why }: Of<'end_silence'>,
  model: ReadModel,
  now: number,
): Promise<CommandDraft> => {
  const silence = (await model.silences(now)).find((one) => one.silenceId === silenceId);
  const { matchers } = found(silence, 'silence', silenceId, '`vigil alert list`');
  return controlAlerts('SILENCE_ALERTS', 'silences', { matchers, until: now, by, why, silenceId });
};
