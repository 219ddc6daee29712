import type { AlertRow } from '@vigil/read-model';
import type { Command } from 'commander';
import { alertLines } from '../../render/fleet.ts';
import { dashboard, show } from '../../terminal.ts';
import { type WriteOptions, withWriteOptions, write } from './options.ts';

export const register = (program: Command): void => {
  const alerts = program.command('alert').description('alerts to people');
  alerts
    .command('list')
    .description('unresolved alerts')
    .option('--all', 'include resolved alerts')
    .option('--json', 'for programs')
    .action(async ({ all, json }: { all?: boolean; json?: boolean }) => {
      const open = all ? undefined : 'true';
      const { alerts } = await dashboard().get<{ alerts: readonly AlertRow[] }>('/v1/alerts', { open });
      show(json, alerts, (rows, view) => alertLines(view, rows));
    });
  withWriteOptions(alerts.command('ack <alert>').description('acknowledge an alert')).action(
    (alertId: string, options: WriteOptions) => {
      const request = { requested: `the acknowledgement of alert ${alertId}`, outcome: 'vigil alert list' };
      return write({ kind: 'acknowledge', alertId }, request, options);
    },
  );
};
