import { Argument, type Command } from 'commander';
import { type Said, saying, write } from './options.ts';

/** Commands for the whole fleet, besides halt and resume. */
export function register(program: Command): void {
  const brake = program.command('brake').description('the brake that a mass failure engages');
  saying(brake.command('lift').description('allow destructive steps again')).action((said: Said) =>
    write({ command: 'lift_brake' }, said),
  );
  const dryRun = program
    .command('dry-run')
    .description('report steps instead of executing them: on or off')
    .addArgument(new Argument('<state>', 'which').choices(['on', 'off']));
  saying(dryRun).action((state: string, said: Said) => write({ command: 'dry_run', on: state === 'on' }, said));
}
