import type { Explanation } from '@vigil/read-model';
import type { Command } from 'commander';
import { explainLines } from '../../render/explain.ts';
import { dashboard, show } from '../../terminal.ts';
import { path } from '../control/options.ts';

const EXAMPLES = `
Examples:
  vigil explain worker-1           the reason that matched, the case, its steps, orders, recoveries, alerts
  vigil explain worker-1 --json    the same for programs`;

export function register(program: Command): void {
  program
    .command('explain <agent>')
    .description("the reasons for an agent's state")
    .option('--json', 'for programs')
    .addHelpText('after', EXAMPLES)
    .action(async (agentId: string, { json }: { json?: boolean }) => {
      const explanation = await dashboard().get<Explanation>(path('agents', agentId, 'explain'));
      show(json, explanation, (explanation, view) => explainLines(view, explanation));
    });
}
