import { Argument, type Command } from 'commander';
import { type WriteOptions, withWriteOptions, write } from './options.ts';

/** Commands for the whole fleet, besides halt and resume. */
export function register(program: Command): void {
  const brake = program.command('brake').description('the brake that a mass failure engages');
  withWriteOptions(brake.command('lift').description('allow destructive steps again')).action((options: WriteOptions) =>
    write({ command: 'lift_brake' }, options),
  );
  const dryRun = program
    .command('dry-run')
    .description('report steps instead of executing them: on or off')
    .addArgument(new Argument('<state>', 'which').choices(['on', 'off']));
  withWriteOptions(dryRun).action((state: string, options: WriteOptions) =>
    write({ command: 'dry_run', on: state === 'on' }, options),
  );
}
