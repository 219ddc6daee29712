import type { Doctor } from '@vigil/read-model';
import type { Command } from 'commander';
import { NoAnswer } from '../../errors.ts';
import { askParts } from '../../parts.ts';
import { doctorLines, isWell, partLines } from '../../render/fleet/doctor.ts';
import { dashboardReport, endUnwell, show } from '../../terminal.ts';

/** The dashboard may be what is wrong. */
const withoutDashboard = async (json: boolean | undefined, { why: detail }: NoAnswer): Promise<void> => {
  const parts = await askParts(process.env);
  const since = parts.find(({ service }) => service === 'dashboard')?.since ?? null;
  const services = [{ service: 'API of the dashboard', ready: false, detail, since }, ...parts];
  show(json, { services }, (answer, view) => partLines(view, answer.services));
  endUnwell();
};

export const register = (program: Command): void => {
  program
    .command('doctor')
    .description(
      "check Vigil's own health: readiness, database, age of time, lag, duplicate instances, reach of replay, stuck sweeps",
    )
    .option('--json', 'for programs')
    .addHelpText(
      'after',
      '\nExits with 1 if a part is not ready, its time stands still, or the rows are late. Below each such line stands what to do. Where the\ndashboard does not answer, each part is asked by itself.',
    )
    .action(async ({ json }: { json?: boolean }) => {
      const found = await dashboardReport()
        .get<Doctor>('/v1/doctor')
        .catch((error: unknown) => {
          if (error instanceof NoAnswer) return error;
          throw error;
        });
      if (found instanceof NoAnswer) return await withoutDashboard(json, found);
      show(json, found, (findings, view) => doctorLines(view, findings));
      if (!isWell(found)) endUnwell();
    });
};
