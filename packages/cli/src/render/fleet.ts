import type { AlertRow, FleetRow } from '@vigil/read-model';
import { clockTime, orDash, type View } from './view.ts';

export const alertLine = (view: View, alert: AlertRow): string => {
  const at = alert.raisedAt ?? alert.updatedAt;
  const stands =
    alert.resolvedAt !== null
      ? `resolved ${clockTime(view, alert.resolvedAt)}`
      : alert.acknowledgedBy !== null
        ? `acknowledged by ${alert.acknowledgedBy}`
        : 'open';
  const severity = alert.severity === 'critical' ? view.paint.red('critical') : orDash(alert.severity);
  const time = at === null ? '-' : clockTime(view, at);
  return `  ${view.paint.dim(time)}  ${severity}  ${orDash(alert.title)} (${stands})`;
};

export const alertLines = (view: View, alerts: readonly AlertRow[]): string[] =>
  alerts.length === 0 ? ['No alerts.'] : alerts.map((alert) => alertLine(view, alert));

/** The same in a word each, for a title. */
export const fleetWords = ({ halted, braked, dryRun }: FleetRow): readonly string[] => [
  ...(halted ? ['HALTED'] : []),
  ...(braked ? ['BRAKE'] : []),
  ...(dryRun ? ['DRY RUN'] : []),
];

/** What holds the whole fleet; nothing where nothing does. */
export const fleetLines = ({ paint }: View, fleet: FleetRow): string[] => [
  ...(fleet.halted ? [paint.red(`HALTED by ${orDash(fleet.haltBy)}: ${orDash(fleet.haltWhy)}. Nothing acts.`)] : []),
  ...(fleet.braked ? [paint.red(`BRAKE on ${orDash(fleet.brakeScope)}: ${orDash(fleet.brakeWhy)}`)] : []),
  ...(fleet.dryRun
    ? [paint.yellow(`DRY RUN by ${orDash(fleet.dryRunBy)}: steps only report what they would do.`)]
    : []),
];
