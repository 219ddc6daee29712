import type { AgentRow } from '@vigil/read-model';
import { type Command, Option } from 'commander';
import { agentJson, agentLines, agentsTable, isUnhealthy } from '../render/agents.ts';
import { dashboard, endUnwell, show } from '../terminal.ts';
import { watch } from '../watch.ts';
import { path } from './options.ts';

type Options = { filter?: 'unhealthy'; state?: string; watch?: boolean; json?: boolean };

const EXAMPLES = `
Ends with 1 where an agent that is shown is unhealthy (finished ones are not), with 2 where Vigil cannot be asked.

Examples:
  vigil health                       every agent
  vigil health worker-1 --json       { "agent": "worker-1", "status": "healthy", "last_output": "…", "errors": [], … }
  vigil health --filter unhealthy    what needs a look
  vigil health --watch               the fleet and its story, until Ctrl-C`;

export function register(program: Command): void {
  program
    .command('health [agent]')
    .description('how the agents are')
    .addOption(new Option('--filter <which>', 'only those').choices(['unhealthy']))
    .option('--state <state>', 'only those in HEALTHY, DEGRADED, STUCK, FAILING or TERMINATED', (s) => s.toUpperCase())
    .option('--watch', 'go on showing until Ctrl-C')
    .option('--json', 'for programs')
    .addHelpText('after', EXAMPLES)
    .action(health);
}

async function health(agentId: string | undefined, options: Options): Promise<void> {
  const client = dashboard();
  if (options.watch) return watch(client);
  if (agentId !== undefined) return one(await client.get<AgentRow>(path('agents', agentId)), options);
  const { filter, state } = options;
  const { agents } = await client.get<{ agents: readonly AgentRow[] }>('/v1/agents', { filter, state });
  if (options.json) show(true, agents.map(agentJson), () => []);
  else show(false, agents, (rows, view) => agentsTable(view, rows));
  if (agents.some(isUnhealthy)) endUnwell();
}

function one(agent: AgentRow, { json }: Options): void {
  if (json) show(true, agentJson(agent), () => []);
  else show(false, agent, (row, view) => agentLines(view, row));
  if (isUnhealthy(agent)) endUnwell();
}
