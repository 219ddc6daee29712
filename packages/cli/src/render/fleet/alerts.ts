import type { AlertRow, SilenceRow } from '@vigil/read-model';
import { plain } from '../plain.ts';
import { clockTime, orDash, type View } from '../view.ts';

export const alertLine = (view: View, alert: AlertRow): string => {
  const at = alert.raisedAt ?? alert.updatedAt;
  const stands =
    alert.resolvedAt !== null
      ? `resolved ${clockTime(view, alert.resolvedAt)}`
      : alert.acknowledgedBy !== null
        ? `acknowledged by ${alert.acknowledgedBy}`
        : 'open';
  const severity = alert.severity === 'critical' ? view.paint.red('critical') : orDash(alert.severity);
  const hurry = alert.urgency === 'high' || alert.urgency === 'highest' ? ` (urgency ${alert.urgency})` : '';
  const time = at === null ? '-' : clockTime(view, at);
  return `  ${view.paint.dim(time)}  ${severity}${hurry}  ${orDash(alert.title)} (${stands})`;
};

export const alertLines = (view: View, alerts: readonly AlertRow[]): string[] =>
  alerts.length === 0
    ? ['No alerts.']
    : alerts.flatMap((alert) => [alertLine(view, alert), `    ${view.paint.dim(plain(alert.alertId))}`]);

/** What people have silenced, and until when; nothing where nothing is. */
export const silenceLines = (view: View, silences: readonly SilenceRow[]): string[] =>
  silences.length === 0 ? [] : ['', 'Silences', ...silences.map((silence) => silenceLine(view, silence))];

const silenceLine = (view: View, { silenceId, matchers, until, by, why }: SilenceRow): string => {
  const what = matchers.map(({ field, value }) => `${field}=${value}`).join(' ');
  return `  ${plain(what)}  until ${clockTime(view, until)}, by ${plain(by)}: ${plain(why)}  ${view.paint.dim(plain(silenceId))}`;
};
