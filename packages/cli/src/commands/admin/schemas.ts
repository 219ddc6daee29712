import type { Command } from 'commander';
import { registryOf } from '../../config.ts';
import { CannotProceed } from '../../errors.ts';
import { show } from '../../terminal.ts';

export function register(program: Command): void {
  program
    .command('schemas')
    .description('the contract in the registry')
    .command('register')
    .description('register every schema at level FULL_TRANSITIVE; existing versions stay')
    .option('--json', 'for programs')
    .addHelpText('after', '\nIt needs the registry only (SCHEMA_REGISTRY_URL).\n\nExample:\n  vigil schemas register')
    .action(async ({ json }: { json?: boolean }) => {
      const { registerSchemas } = await import('@vigil/events');
      let count = 0;
      try {
        await registerSchemas(registryOf(process.env), (_, of) => {
          count = of;
        });
      } catch (cause) {
        throw new CannotProceed((cause as Error).message, { cause });
      }
      show(json, { schemas: count }, () => [`${count} schemas are registered.`]);
    });
}
