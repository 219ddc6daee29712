import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, onTestFinished, test } from 'vitest';
import { vigilProgram } from '../../program.fixture.ts';

const knowledge = { upTo: 0, blindSince: null, away: [] };

test('the official client starts vigil mcp, and uses its tools with the token of the environment', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    if (request.url === '/v1/inbox') response.end(JSON.stringify({ inbox: [], knowledge }));
    else response.writeHead(404).end(JSON.stringify({ detail: 'agent "missing" does not exist' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [vigilProgram, 'mcp'],
    env: { PATH: process.env.PATH ?? '', VIGIL_DASHBOARD_URL: url, VIGIL_DASHBOARD_TOKEN: 'a-token' },
  });
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  await client.connect(transport as never);
  const { structuredContent } = await client.callTool({ name: 'inbox', arguments: {} });
  expect(structuredContent).toMatchObject({ items: [], knowledge: { blind_since: null } });
  expect(asked).toEqual(['GET /v1/inbox Bearer a-token']);
  const unknown = await client.callTool({ name: 'check_rate_limits', arguments: { agent_id: 'missing' } });
  expect(unknown).toMatchObject({ isError: true, content: [{ text: 'agent "missing" does not exist' }] });
});
