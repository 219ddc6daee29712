import { Command, CommanderError } from 'commander';
import * as adopt from './commands/adopt.ts';
import * as alert from './commands/alert.ts';
import * as attach from './commands/attach.ts';
import * as breaker from './commands/breaker.ts';
import * as cases from './commands/case.ts';
import * as doctor from './commands/doctor.ts';
import * as evaluate from './commands/evaluate.ts';
import * as events from './commands/events.ts';
import * as explain from './commands/explain.ts';
import * as fleet from './commands/fleet.ts';
import * as halt from './commands/halt.ts';
import * as health from './commands/health.ts';
import * as hold from './commands/hold.ts';
import * as hook from './commands/hook.ts';
import * as host from './commands/host.ts';
import * as nudge from './commands/nudge.ts';
import * as policy from './commands/policy.ts';
import * as recover from './commands/recover.ts';
import * as run from './commands/run.ts';
import * as runtime from './commands/runtime.ts';
import * as schemas from './commands/schemas.ts';
import * as stop from './commands/stop.ts';
import * as task from './commands/task.ts';
import * as token from './commands/token.ts';
import * as topics from './commands/topics.ts';
import * as transactions from './commands/transactions.ts';
import { sayError } from './terminal.ts';

const ABOUT = `Watches fleets of autonomous agents: run them, ask how they are, decide, steer.
Ends with 0 where all is well, 1 where something is unhealthy or refused, 2 where Vigil cannot be asked.`;

const program = new Command('vigil').description(ABOUT).exitOverride().showSuggestionAfterError();
const commands = [
  run,
  runtime,
  attach,
  stop,
  adopt,
  hook,
  health,
  explain,
  cases,
  hold,
  nudge,
  recover,
  host,
  fleet,
  halt,
  events,
  task,
  alert,
  breaker,
  doctor,
  policy,
  evaluate,
  token,
  topics,
  transactions,
  schemas,
];
for (const command of commands) command.register(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) sayError(error);
  else process.exitCode = error.exitCode === 0 ? 0 : 2;
}
