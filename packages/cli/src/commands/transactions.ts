import type { Command } from 'commander';
import { brokersOf } from '../config.ts';
import { hangingLines } from '../render/transactions.ts';
import { endUnwell, show } from '../terminal.ts';

const ABOUT = `
It needs Kafka only (KAFKA_BROKERS), looks for 22 s, and changes nothing: what it finds it shows with the command of
Kafka's own tool that ends it. Ends with 1 where a transaction hangs.`;

export function register(program: Command): void {
  program
    .command('transactions')
    .description('transactions that hang: readers of committed records get no further')
    .option('--json', 'for programs')
    .addHelpText('after', ABOUT)
    .action(async ({ json }: { readonly json?: boolean }) => {
      const brokers = brokersOf(process.env);
      // The Kafka client is loaded here only: every other command starts without it.
      const { findHanging } = await import('../kafka.ts');
      const found = await findHanging(brokers);
      show(json, found, (hanging, view) => hangingLines(view, hanging, brokers));
      if (found.length > 0) endUnwell();
    });
}
