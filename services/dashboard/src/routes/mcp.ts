import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { type Api, ApiRefusal, createMcpServer } from '@vigil/mcp';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../problem.ts';

type Injected = Awaited<ReturnType<FastifyInstance['inject']>>;

const answerOf = <T>({ statusCode, body }: Injected): T => {
  const answer = JSON.parse(body) as { readonly detail?: string };
  if (statusCode >= 300) throw new ApiRefusal(answer.detail ?? `The dashboard answers with status ${statusCode}.`);
  return answer as T;
};

/** The API by the routes of this server, with the headers of the caller: each route and each command keeps its role. */
const apiOf = (app: FastifyInstance, headers: Readonly<Record<string, string>>): Api => ({
  get: async (url, query = {}) => answerOf(await app.inject({ method: 'GET', url, query, headers })),
  command: async (payload) => {
    const written = await app.inject({ method: 'POST', url: '/v1/commands', payload, headers });
    return answerOf<{ eventId: string }>(written).eventId;
  },
});

/** The Model Context Protocol over HTTP, without sessions: each request carries the caller's token. */
export const mcpRoutes = (app: FastifyInstance, now: () => number): void => {
  app.post('/mcp', async (request, reply) => {
    const { authorization = '', host = '' } = request.headers;
    const server = createMcpServer({
      api: apiOf(app, { authorization, host }),
      now,
      newId: randomUUID,
      pause: (ms) => pause(ms),
    });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
        typeof value === 'string' ? [[name, value]] : [],
      );
      const sent = new Request(`http://${host || 'localhost'}/mcp`, { method: 'POST', headers });
      const answer = await transport.handleRequest(sent, { parsedBody: request.body });
      const type = answer.headers.get('content-type');
      if (type !== null) reply.type(type);
      return await reply.code(answer.status).send(await answer.text());
    } finally {
      await server.close();
    }
  });
  // It has no stream of its own, and no session to end.
  for (const method of ['GET', 'DELETE'] as const)
    app.route({
      method,
      url: '/mcp',
      handler: async (_, reply) => {
        reply.header('allow', 'POST');
        throw new Problem(405, 'post_only', 'MCP is without sessions here: send each message by POST.');
      },
    });
};
