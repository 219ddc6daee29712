import { spell } from '@vigil/policy';
import type { FleetRow, WrittenCommand } from '@vigil/read-model';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { directSettings } from '../../config.ts';
import { Refusal } from '../../errors.ts';
import type { FleetControl } from '../../kafka.ts';
import type { NudgeOptions } from '../../nudge.ts';
import { dashboard, show } from '../../terminal.ts';
import { requestLines, upToMonthOption, type WriteOptions, withWriteOptions, write } from './options.ts';

/** Commands that write one command each: about an agent, a host, or the whole fleet. */
export const register = (program: Command): void => {
  const hold = program.command('hold <agent>').description('suspend judgement of an agent for a while');
  withWriteOptions(hold.option('--for <duration>', 'how long, at most 30d; otherwise until released', upToMonthOption))
    .addHelpText('after', '\nExample:\n  vigil hold worker-1 --for 30m --why "a debugger is attached"')
    .action((agentId: string, options: WriteOptions & { for?: number }) => {
      const until = options.for === undefined ? 'until it is released' : `for ${spell(options.for)}`;
      const request = { requested: `a hold of ${agentId}, ${until}`, outcome: `vigil explain ${agentId}` };
      return write({ kind: 'hold', agentId, forMs: options.for }, request, options);
    });
  withWriteOptions(program.command('release <agent>').description('end a hold')).action(
    (agentId: string, options: WriteOptions) => {
      const request = { requested: `the end of the hold of ${agentId}`, outcome: `vigil explain ${agentId}` };
      return write({ kind: 'release', agentId }, request, options);
    },
  );
  const nudge = program
    .command('nudge [agent]')
    .usage('<agent> --message <text> [options]')
    .description('send a text to an agent')
    .option('--message <text>', 'the text', messageOption);
  withWriteOptions(nudge)
    .addHelpText('after', NUDGE)
    .action(async (agentId: string | undefined, options: Partial<NudgeOptions> & WriteOptions) => {
      const { message } = options;
      // commander itself would name only the first of them.
      const missing = [
        ...(agentId === undefined ? ["missing required argument 'agent'"] : []),
        ...(message === undefined ? ["required option '--message <text>' not specified"] : []),
      ];
      if (agentId === undefined || message === undefined) return nudge.error(`error: ${missing.join('; ')}`);
      await (await import('../../nudge.ts')).sendNudge(agentId, { ...options, message });
    });
  withWriteOptions(program.command('recover <agent>').description('end an agent and put its task on a fresh one'))
    .addHelpText('after', RECOVER)
    .action((agentId: string, options: WriteOptions) => {
      const command = { kind: 'request_step', agentId, step: 'terminate_and_recover' };
      const requested = `the end of ${agentId}, and a fresh agent for its task`;
      return write(command, { requested, outcome: `vigil case list --agent ${agentId}` }, options);
    });
  const host = program.command('host').description('the machines that agents run on');
  withWriteOptions(host.command('gone <host>').description('confirm that a host is gone, with all its agents'))
    .addHelpText('after', GONE)
    .action(confirmGone);
  const brake = program.command('brake').description('the brake that a mass failure engages');
  withWriteOptions(brake.command('lift').description('allow destructive steps again')).action(liftBrake);
  const dryRun = program
    .command('dry-run')
    .description('report steps instead of executing them: on or off')
    .addArgument(new Argument('<state>', 'which').choices(['on', 'off']));
  withWriteOptions(dryRun).action((state: string, options: WriteOptions) =>
    write({ kind: 'dry_run', on: state === 'on' }, { requested: `dry run ${state}`, outcome: 'vigil health' }, options),
  );
  for (const [name, description, type, requested] of [
    ['halt', 'nothing more is begun; everything still observes', 'HALT_FLEET', 'a halt of the fleet'],
    ['resume', 'end a halt; findings that still hold are acted on', 'RESUME_FLEET', 'the end of the halt of the fleet'],
  ] as const)
    withWriteOptions(
      program.command(name).description(description).option('--direct', 'write to Kafka, without the dashboard'),
    )
      .addHelpText('after', HALT)
      .action(async ({ direct, ...options }: WriteOptions & { direct?: boolean }) => {
        const outcome = 'vigil health';
        if (!direct) {
          if (name === 'resume') await checkHalted();
          return write({ kind: name }, { requested, outcome }, options);
        }
        const written = await directly(type, options);
        show(options.json, written, () => requestLines(requested, outcome));
      });
};

const NUDGE = `
Waits until the agent has the text, or reports why not, for a minute at most. Nothing is typed into a dialog or a call.
Ctrl-C ends the wait; the text is still delivered.

Example:
  vigil nudge worker-1 --message "Please write a checkpoint."`;

/** A step by hand opens a case of its own. */
const RECOVER = `
The task continues from its newest valid checkpoint. The recovery skips the back-off, counts as an attempt, and needs the
governor's admission. Nothing is spawned before the death is confirmed. The command waits until a fresh agent works, or
prints why none does.

Example:
  vigil recover worker-1 --why "it does not answer"`;

const GONE = `
Use it only when the machine is certainly off. Each of its agents then counts as dead, and its task goes to a fresh agent.

Example:
  vigil host gone build-7 --why "the rack has lost power"`;

const HALT = `
With --direct it needs the log only (KAFKA_BROKERS and SCHEMA_REGISTRY_URL, or VIGIL_LOG_FILE), not the dashboard.

Examples:
  vigil halt --why "the network is being moved"
  vigil resume --why "the network has been moved"`;

const confirmGone = (host: string, options: WriteOptions): Promise<void> => {
  const request = { requested: `${host} counts as gone, with all its agents`, outcome: 'vigil health' };
  return write({ kind: 'host_gone', host }, request, options);
};

const messageOption = (text: string): string => {
  if (text.trim() === '') throw new InvalidArgumentError('Write a text of at least one character.');
  return text;
};

const fleetNow = async (): Promise<FleetRow | null> =>
  (await dashboard().get<{ readonly fleet: FleetRow | null }>('/v1/fleet')).fleet;

/** Throws Refusal where the fleet is not halted. */
const checkHalted = async (): Promise<void> => {
  if (!(await fleetNow())?.halted) throw new Refusal('the fleet is not halted: there is nothing to resume');
};

const liftBrake = async (options: WriteOptions): Promise<void> => {
  if (!(await fleetNow())?.braked) throw new Refusal('the brake is not engaged: there is nothing to lift');
  return write({ kind: 'lift_brake' }, { requested: 'the end of the brake', outcome: 'vigil health' }, options);
};

/** The Kafka client is loaded by nothing else here: every other command starts without it. */
const directly = async (type: FleetControl, { by, why }: WriteOptions): Promise<WrittenCommand> => {
  const settings = directSettings(process.env);
  const { writeDirect } = await import('../../kafka.ts');
  return writeDirect(settings, type, { by, why });
};
