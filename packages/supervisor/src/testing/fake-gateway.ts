import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Heartbeat, PolicyRef } from '@vigil/events';
import type { Finding, TerminalReport } from '../gateway/gateway-client.ts';
import type { TerminalLease } from '../live-terminal/leases.ts';
import type { Order, OrderEnvelope, Report } from '../orders/order.ts';

/** A gateway of the contract's shape that records what it receives. */
export type FakeGateway = {
  readonly url: string;
  readonly heartbeats: Heartbeat[];
  readonly reports: Report[];
  /** offered until its receipt is seen: with polls, and with heartbeats where the order's runtime has not polled, as the real one does */
  readonly offer: (order: Order, expiresInMs?: number, policy?: string | null) => void;
  /** recalls the orders that it has offered, until reset */
  halted: boolean;
  /** answers 503 to everything until put back */
  away: boolean;
  /** takes heartbeats and does not answer, until put back */
  silent: boolean;
  /** why no more calls may be made, as it answers heartbeats; null: they may */
  refusal: string | null;
  /** what is asked before a turn ends, as it answers heartbeats; null: nothing */
  askAtStop: { readonly needsCheck: boolean } | null;
  /** the interval that it requests, as it answers heartbeats; null: none */
  intervalMs: number | null;
  /** the newer instance that it judges, as it answers heartbeats; null: there is none */
  successor: string | null;
  /** what hooks ask people, as it receives it, and what it answers: null: it waits */
  readonly requests: Record<string, unknown>[];
  readonly withdrawn: Record<string, unknown>[];
  decision: object | null;
  /** for what it reports every agent as stuck; null: none is */
  finding: Finding | null;
  /** the policy that it reports for every agent */
  assigned: PolicyRef | null;
  /** leases of terminals that the next poll receives, and what runtimes publish of them */
  readonly leases: TerminalLease[];
  readonly terminals: TerminalReport[];
  /** refuses what runtimes publish of terminals, until put back */
  refusesTerminals: boolean;
  /** documents by name, all with hash `h` */
  readonly policies: Map<string, object>;
  readonly close: () => Promise<void>;
};

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return parts.length > 0 ? JSON.parse(Buffer.concat(parts).toString()) : null;
};

const listOf = <T>(body: unknown): T[] => (Array.isArray(body) ? body : [body]) as T[];
const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

export const fakeGateway = async (): Promise<FakeGateway> => {
  const offered = new Map<string, OrderEnvelope>();
  const heartbeats: Heartbeat[] = [];
  const reports: Report[] = [];
  const polling = new Set<string>();
  const orders = () => (gateway.halted ? [] : [...offered.values()]);
  const recalled = () => (gateway.halted ? [...offered.values()] : []);
  const ordersWithHeartbeats = () => orders().filter(({ payload }) => !polling.has(payload.runtimeId));
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    if (gateway.away) return send(response, 503, {});
    if (request.url === '/v1/heartbeats') {
      heartbeats.push(...listOf<Heartbeat>(body));
      if (gateway.silent) return;
      return send(response, 202, {
        accepted: 1,
        orders: ordersWithHeartbeats(),
        policy: gateway.assigned,
        intervalMs: gateway.intervalMs,
        refusal: gateway.refusal,
        askAtStop: gateway.askAtStop,
        successor: gateway.successor,
        finding: gateway.finding,
      });
    }
    if (request.url === '/v1/requests/withdraw') {
      gateway.withdrawn.push(body as Record<string, unknown>);
      return send(response, 202, {});
    }
    if (request.url?.startsWith('/v1/requests')) {
      gateway.requests.push(body as Record<string, unknown>);
      for (let looks = 0; looks < 20 && gateway.decision === null && !request.url.endsWith('wait=0'); looks += 1)
        await new Promise((resolve) => setTimeout(resolve, 20));
      return send(response, 200, gateway.decision ?? { kind: 'open', remainingMs: 60_000 });
    }
    if (request.url === '/v1/receipts') {
      for (const report of listOf<Report>(body)) {
        reports.push(report);
        if ('orderId' in report.payload) offered.delete(report.payload.orderId ?? '');
      }
      return send(response, 202, {});
    }
    if (request.url === '/v1/terminals') {
      if (gateway.refusesTerminals) return send(response, 409, { detail: 'no lease' });
      gateway.terminals.push(body as TerminalReport);
      return send(response, 202, {});
    }
    const asked = /^\/v1\/policies\/(.+)$/.exec(request.url ?? '')?.[1];
    if (asked !== undefined) {
      const document = gateway.policies.get(asked);
      return document ? send(response, 200, { name: asked, hash: 'h', document }) : send(response, 404, {});
    }
    const poller = /^\/v1\/runtimes\/([^/]+)\/orders/.exec(request.url ?? '')?.[1];
    if (poller !== undefined) polling.add(decodeURIComponent(poller));
    return send(response, 200, { orders: orders(), recalled: recalled(), terminals: gateway.leases.splice(0) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const gateway: FakeGateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heartbeats,
    reports,
    offer: (order, expiresInMs = 60_000, policy = null) =>
      void offered.set(order.payload.orderId, { ...order, expiresInMs, isRecalled: false, policy }),
    halted: false,
    away: false,
    silent: false,
    refusal: null,
    askAtStop: null,
    intervalMs: null,
    successor: null,
    requests: [],
    withdrawn: [],
    decision: null,
    finding: null,
    assigned: null,
    leases: [],
    terminals: [],
    refusesTerminals: false,
    policies: new Map(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return gateway;
};
