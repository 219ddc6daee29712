import { Command, CommanderError } from 'commander';
import { filesFor } from './commands/commands.ts';
import { outliveReaders, printError } from './terminal.ts';

const ABOUT = `Watches fleets of autonomous agents: run them, show their state, decide, control.
Exits with 0 if all is well, 1 if something is unhealthy or refused, 2 if Vigil cannot be reached.`;

outliveReaders();
const program = new Command('vigil').description(ABOUT).exitOverride().showSuggestionAfterError();
for (const { load } of filesFor(process.argv[2])) (await load()).register(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) printError(error);
  else process.exitCode = error.exitCode === 0 ? 0 : 2;
}
