import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { dashboard, dashboardView, untilStopped } from '../../terminal.ts';

const EXAMPLES = `
A client of the Model Context Protocol starts this and talks to it over standard input and output. VIGIL_DASHBOARD_URL
and VIGIL_DASHBOARD_TOKEN name the dashboard; the role of the token decides which tools may act.

Example, for Claude Code:
  claude mcp add vigil -e VIGIL_DASHBOARD_URL -e VIGIL_DASHBOARD_TOKEN -- vigil mcp`;

export const register = (program: Command): void => {
  program
    .command('mcp')
    .description('the tools of Vigil for agents and orchestrators, as an MCP server on standard input and output')
    .addHelpText('after', EXAMPLES)
    .action(serve);
};

const serve = async (): Promise<void> => {
  const [{ StdioServerTransport }, { createMcpServer }, { apiOf }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('@vigil/mcp'),
    import('../../mcp-api.ts'),
  ]);
  const server = createMcpServer({
    api: apiOf(dashboardView(), dashboard()),
    now: Date.now,
    newId: randomUUID,
    pause: (ms) => pause(ms),
  });
  const stopped = untilStopped();
  await server.connect(new StdioServerTransport());
  await new Promise<void>((resolve) => {
    // A client that has gone has closed the input.
    process.stdin.once('end', resolve).once('close', resolve);
    stopped.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.close();
};
