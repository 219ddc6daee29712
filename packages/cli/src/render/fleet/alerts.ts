import type { AlertRow, SilenceRow } from '@vigil/read-model';
import { matchersText } from '@vigil/read-model/matchers';
import { standingText } from '@vigil/read-model/standing';
import { plain } from '../plain.ts';
import { clockTime, orDash, table, type View } from '../view.ts';

const standing = (view: View, alert: AlertRow): string =>
  alert.resolvedAt === null ? standingText(alert) : `resolved ${clockTime(view, alert.resolvedAt)}`;

const urgencyText = ({ urgency }: AlertRow): string =>
  urgency === 'high' || urgency === 'highest' ? ` (urgency ${urgency})` : '';

const timeText = (view: View, { raisedAt, updatedAt }: AlertRow): string => {
  const at = raisedAt ?? updatedAt;
  return at === null ? '-' : clockTime(view, at);
};

export const alertLine = (view: View, alert: AlertRow): string => {
  const severity = alert.severity === 'critical' ? view.paint.red('critical') : orDash(alert.severity);
  const stands = standing(view, alert);
  return `  ${view.paint.dim(timeText(view, alert))}  ${severity}${urgencyText(alert)}  ${orDash(alert.title)} (${stands})`;
};

/** Characters of an id in a list. */
const SHORT = 8;

/** The beginning of the id of each alert that names it alone among these. */
const shortIds = (alerts: readonly AlertRow[]): ReadonlyMap<string, string> =>
  new Map(
    alerts.map(({ alertId }) => {
      for (let length = SHORT; length < alertId.length; length += 1) {
        const short = alertId.slice(0, length);
        if (alerts.filter((one) => one.alertId.startsWith(short)).length === 1) return [alertId, short];
      }
      return [alertId, alertId];
    }),
  );

export const alertsTable = (view: View, alerts: readonly AlertRow[]): string[] => {
  const ids = shortIds(alerts);
  return table<AlertRow>(
    view,
    [
      { title: 'ALERT', of: ({ alertId }) => ids.get(alertId) ?? alertId },
      { title: 'TIME', of: (alert) => timeText(view, alert) },
      {
        title: 'SEVERITY',
        of: (alert) => `${orDash(alert.severity)}${urgencyText(alert)}`,
        paint: (text, { severity }) => (severity === 'critical' ? view.paint.red(text) : text),
      },
      { title: 'AGENT', of: ({ agentId }) => orDash(agentId) },
      { title: 'TASK', of: ({ taskId }) => orDash(taskId) },
      { title: 'STANDS', of: (alert) => standing(view, alert) },
      { title: 'TITLE', of: ({ title }) => orDash(title), rest: true },
    ],
    alerts,
    'No alerts.',
  );
};

/**
 * The alerts that a person names: by an id, by its beginning of at least four characters, or by an agent or a task. An
 * exact id names one alert only.
 */
export const alertsNamed = (alerts: readonly AlertRow[], name: string): readonly AlertRow[] => {
  const exact = alerts.filter(({ alertId }) => alertId === name);
  if (exact.length > 0) return exact;
  return alerts.filter(
    ({ alertId, agentId, taskId }) =>
      agentId === name || taskId === name || (name.length >= 4 && alertId.startsWith(name)),
  );
};

/** What people have silenced, and until when; nothing where nothing is. */
export const silenceLines = (view: View, silences: readonly SilenceRow[]): string[] =>
  silences.length === 0 ? [] : ['', 'Silences', ...silences.map((silence) => silenceLine(view, silence))];

const silenceLine = (view: View, silence: SilenceRow): string => {
  const { silenceId, until, by, why } = silence;
  const what = matchersText(silence);
  return `  ${plain(what)}  until ${clockTime(view, until)}, by ${plain(by)}: ${plain(why)}  ${view.paint.dim(plain(silenceId))}`;
};

/** A file of channels as `vigil alert check` shows it. `warnings`: secrets that are not on this machine. */
export type CheckedChannels = {
  readonly file: string;
  readonly default: readonly string[];
  readonly channels: readonly { readonly name: string; readonly kind: string }[];
  readonly mistakes: readonly string[];
  readonly warnings: readonly string[];
};

/** A file of channels without a mistake, and the secrets that are not on this machine. */
export const checkedChannelsLines = ({ paint }: View, checked: CheckedChannels): string[] => {
  const { file, channels, warnings } = checked;
  const named = channels.map(({ name, kind }) => (name === kind ? name : `${name} (${kind})`));
  const all = ['console', ...named].join(', ');
  return [
    `${paint.green('ok')}  ${file}: channels ${all}; default ${checked.default.join(', ')}`,
    ...warnings.map((warning) => `  ${paint.yellow('not on this machine')}: ${warning}`),
  ];
};
