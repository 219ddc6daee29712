import type { Command } from 'commander';
import { directSettings } from '../../config.ts';
import type { FleetControl } from '../../direct.ts';
import { dashboard, show, whoAmI } from '../../terminal.ts';
import { type Written, writtenLine } from './options.ts';

type Options = { why: string; by: string; direct?: boolean; json?: boolean };

const EXAMPLES = `
With --direct it needs Kafka only (KAFKA_BROKERS, SCHEMA_REGISTRY_URL), not the dashboard.

Examples:
  vigil halt --why "the network is being moved"
  vigil resume --why "the network has been moved"`;

export function register(program: Command): void {
  controlCommand(program, 'halt', 'nothing more is begun; everything still observes', 'HALT_FLEET');
  controlCommand(program, 'resume', 'end a halt; findings that still hold are acted on', 'RESUME_FLEET');
}

function controlCommand(program: Command, command: 'halt' | 'resume', description: string, type: FleetControl): void {
  program
    .command(command)
    .description(description)
    .option('--why <text>', 'the reason, for those who read it later', 'by hand')
    .option('--by <name>', 'your name', whoAmI())
    .option('--direct', 'write to Kafka, without the dashboard')
    .option('--json', 'for programs')
    .addHelpText('after', EXAMPLES)
    .action(async ({ by, why, direct, json }: Options) => {
      const written = direct
        ? await directly(type, { by, why })
        : await dashboard().post<Written>('/v1/commands', { command, by, why });
      show(json, written, (answer) => [writtenLine(answer)]);
    });
}

/** The Kafka client is loaded by nothing else here: every other command starts without it. */
async function directly(type: FleetControl, reason: { by: string; why: string }): Promise<Written> {
  const settings = directSettings(process.env);
  const { writeDirect } = await import('../../direct.ts');
  return writeDirect(settings, type, reason);
}
