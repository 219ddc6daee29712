import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttp, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Heartbeat } from '@vigil/events';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { overGateway } from './gateway.ts';
import { overSocket } from './socket.ts';
import type { Side } from './transport.contract.ts';

const closed = (server: Server | HttpServer): Promise<void> =>
  new Promise((resolve) => void server.close(() => resolve()));

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const part of request) chunks.push(part as Buffer);
  return chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : null;
};

type Receipt = { readonly payload: { readonly orderId: string } };
type Offered = {
  readonly type: string;
  readonly payload: { readonly orderId: string; readonly agentId: string };
  readonly expiresInMs: number;
};

/** A gateway with the contract's routes. */
export const gatewaySide = async (): Promise<
  Side & { readonly receipts: unknown[]; readonly close: () => Promise<void> }
> => {
  const heartbeats: Heartbeat[] = [];
  const receipts: unknown[] = [];
  const offered = new Map<string, Offered>();
  let port = 0;
  const answer = async (request: IncomingMessage): Promise<object> => {
    const body = await bodyOf(request);
    if (request.url === '/v1/receipts') {
      for (const receipt of body as Receipt[]) offered.delete(receipt.payload.orderId);
      receipts.push(...(body as Receipt[]));
      return { accepted: 1 };
    }
    const heartbeat = body as Heartbeat;
    heartbeats.push(heartbeat);
    const orders = [...offered.values()].filter(({ payload }) => payload.agentId === heartbeat.agent_id);
    return { accepted: 1, orders, policy: null, intervalMs: null, waitedMs: 0 };
  };
  const make = (): Promise<HttpServer> =>
    new Promise((resolve) => {
      const server = createHttp((request, response) => {
        void answer(request).then((body) => response.writeHead(202).end(JSON.stringify(body)));
      });
      server.listen(port, '127.0.0.1', () => {
        port = (server.address() as AddressInfo).port;
        resolve(server);
      });
    });
  let server = await make();
  const away = async () => {
    server.closeAllConnections();
    await closed(server);
  };
  return {
    over: () => overGateway({ url: `http://127.0.0.1:${port}`, token: 't' }),
    agentId: (name) => name,
    arrived: async (agentId) => heartbeats.filter(({ agent_id }) => agent_id === agentId),
    away,
    back: async () => {
      server = await make();
    },
    nudge: async (agentId, instanceId, message) => {
      const { payload } = example(Topic.agentOrder, 'NUDGE_AGENT', {
        ...{ orderId: `o-${agentId}`, agentId, instanceId },
        message,
        runtimeId: '',
      });
      offered.set(payload.orderId, { type: 'NUDGE_AGENT', payload, expiresInMs: 60_000 });
    },
    receipts,
    close: away,
  };
};

/** A supervisor's socket. Nothing distinguishes agents on it, so a test uses one at a time. */
export const socketSide = async (): Promise<Side & { readonly close: () => Promise<void> }> => {
  const dir = mkdtempSync(join(tmpdir(), 'vigil-way-'));
  const path = join(dir, 'a.sock');
  const clients = new Set<Socket>();
  let lines: Partial<Heartbeat>[] = [];
  const make = (): Promise<Server> =>
    new Promise((resolve) => {
      const server = createServer((client) => {
        clients.add(client);
        client.on('error', () => {}).on('close', () => clients.delete(client));
        createInterface({ input: client })
          .on('line', (line) => lines.push(JSON.parse(line)))
          .on('error', () => {});
      });
      server.listen(path, () => resolve(server));
    });
  let server = await make();
  const away = async () => {
    for (const client of clients) client.destroy();
    await closed(server);
  };
  return {
    over: () => overSocket(path),
    agentId: (name) => {
      lines = [];
      return name;
    },
    arrived: async () => lines,
    away,
    back: async () => {
      server = await make();
    },
    nudge: async (_agentId, _instanceId, message) => {
      for (const client of clients)
        client.write(`not json\n${JSON.stringify({ nudge: message, order_id: 'o-commands' })}\n`);
    },
    close: async () => {
      await away();
      rmSync(dir, { recursive: true });
    },
  };
};
