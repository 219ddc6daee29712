import type { Command } from 'commander';
import { brokersOf } from '../../config.ts';
import { hangingLines } from '../../render/transactions.ts';
import { endUnwell, show } from '../../terminal.ts';

const ABOUT = `
It needs only Kafka (KAFKA_BROKERS), takes 22 s, and changes nothing. It prints each hanging transaction with the command of
Kafka's own tool that ends it. Exits with 1 if a transaction hangs.`;

export function register(program: Command): void {
  program
    .command('transactions')
    .description('hanging transactions, which block readers of committed records')
    .option('--json', 'for programs')
    .addHelpText('after', ABOUT)
    .action(async ({ json }: { readonly json?: boolean }) => {
      const brokers = brokersOf(process.env);
      // The Kafka client is loaded here only: every other command starts without it.
      const { findHanging } = await import('../../kafka.ts');
      const found = await findHanging(brokers);
      show(json, found, (hanging, view) => hangingLines(view, hanging, brokers));
      if (found.length > 0) endUnwell();
    });
}
