import { Command, CommanderError, InvalidArgumentError } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { filesFor } from './commands/commands.ts';
import { CannotProceed, UnknownName } from './errors.ts';
import { outliveReaders, printError } from './terminal.ts';
import { asOwnError, helpWithRequired } from './usage/usage.ts';

const ABOUT = `Watches fleets of autonomous agents: run them, show their state, decide, control.
Exits with 0 if all is well, 1 if something is unhealthy or refused, 2 if an argument is wrong or Vigil cannot be reached.`;

outliveReaders();
const program = new Command('vigil')
  .description(ABOUT)
  .version(manifest.version)
  .exitOverride()
  .configureHelp(helpWithRequired)
  .configureOutput({ outputError: (text, write) => write(asOwnError(text)) })
  .showSuggestionAfterError();
const files = filesFor(process.argv[2]);
for (const { load } of files) (await load()).register(program);
// These read the whole table of commands.
if (files.length > 1)
  for (const { register } of await Promise.all([import('./usage/help.ts'), import('./usage/completion.ts')]))
    register(program);

try {
  await program.parseAsync();
} catch (error) {
  // An action has thrown it. commander prints only those of its own parsing, and throws them as CommanderError.
  if (error instanceof InvalidArgumentError) printError(new CannotProceed(error.message));
  else if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else printError(error instanceof UnknownName ? await (await import('./nearest-name.ts')).explained(error) : error);
}
