import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { dashboard, openRequest, TOKEN } from '../app.fixture.ts';

const item = { ...openRequest, kind: 'permission', text: 'Bash: ls', taskId: null, deadlineAt: 5000, openedAt: 1 };
const answers = {
  cases: async () => [],
  requests: async () => [{ ...item, atDeadline: 'no_decision' }],
  agents: async () => [],
  tasks: async () => [],
  alerts: async () => [],
  tickets: async () => [],
  fleet: async () => ({ braked: false }),
};

/** The official client, over a real connection, with this token. */
const connected = async (token: string) => {
  const { app, written } = dashboard(answers);
  const url = new URL(`${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(async () => {
    await client.close();
    await app.close();
  });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never);
  return { client, written };
};
const decide = { name: 'decide', arguments: { item: 'request/request-1', option: 'allow', why: 'it is needed' } };

test('the official client lists the tools, reads the inbox and decides, by the name of its token', async () => {
  const { client, written } = await connected(TOKEN);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('check_agent_health');
  const { structuredContent } = await client.callTool({ name: 'inbox', arguments: {} });
  expect(structuredContent).toMatchObject({ items: [{ id: 'request/request-1', text: 'Bash: ls' }] });
  expect(await client.callTool(decide)).toMatchObject({ structuredContent: { requested: 'event-1' } });
  expect(written).toMatchObject([{ type: 'ANSWER_REQUEST', payload: { option: 'allow', by: 'ada (mcp)' } }]);
});

test('the token of a viewer reads, and its decision is refused with the role that it needs', async () => {
  const { client, written } = await connected('viewer');
  expect((await client.callTool({ name: 'inbox', arguments: {} })).isError).not.toBe(true);
  const refused = await client.callTool(decide);
  expect(refused).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('needs the role responder') }],
  });
  expect(written).toEqual([]);
});

test('without a token there is no connection', async () => {
  await expect(connected('no-such-token')).rejects.toThrow(/401|token/i);
});

test('a body that is not of the protocol is refused, and writes nothing', async () => {
  const { request, written } = dashboard(answers);
  for (const body of [{}, { jsonrpc: '2.0', method: 'nothing', id: 1 }]) {
    const { statusCode } = await request('POST', '/mcp', body);
    expect(statusCode).toBeLessThan(500);
  }
  expect((await request('GET', '/mcp')).statusCode).toBe(405);
  expect(written).toEqual([]);
});
