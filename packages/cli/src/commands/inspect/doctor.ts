import type { Doctor } from '@vigil/read-model';
import type { Command } from 'commander';
import { doctorLines, isWell } from '../../render/doctor.ts';
import { dashboard, endUnwell, show } from '../../terminal.ts';

export const register = (program: Command): void => {
  program
    .command('doctor')
    .description("check Vigil's own health: readiness, age of time, lag, duplicate instances, reach of replay, stuck sweeps")
    .option('--json', 'for programs')
    .addHelpText('after', '\nExits with 1 if a service is not ready or its time stands still.')
    .action(async ({ json }: { json?: boolean }) => {
      const found = await dashboard().get<Doctor>('/v1/doctor');
      show(json, found, (findings, view) => doctorLines(view, findings));
      if (!isWell(found)) endUnwell();
    });
};
