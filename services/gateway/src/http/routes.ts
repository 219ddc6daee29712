import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from './problem.ts';
import type { Principal } from './tokens.ts';

/**
 * Who may use each route: only the operator, or every principal within its rights and claims. A route that is missing here stops the gateway
 * at its start. The test of other principals' records sends requests to each.
 */
export const ROUTES = {
  'POST /v1/heartbeats': 'principal',
  'POST /v1/receipts': 'principal',
  'GET /v1/runtimes/:runtimeId/orders': 'principal',
  'GET /v1/agents/:agentId/orders': 'principal',
  'GET /v1/policies/:name': 'principal',
  'POST /v1/hooks/:client': 'principal',
  'POST /v1/requests': 'principal',
  'POST /v1/requests/withdraw': 'principal',
  'POST /otlp/v1/logs': 'principal',
  'POST /otlp/v1/metrics': 'principal',
  'POST /otlp/v1/traces': 'principal',
  'POST /v1/terminals': 'principal',
  'POST /v1/token': 'principal',
  'POST /v1/tokens': 'operator',
  'GET /v1/tokens': 'operator',
  'POST /v1/tokens/:tokenId/revoke': 'operator',
} as const satisfies Readonly<Record<string, 'operator' | 'principal'>>;
export type Route = keyof typeof ROUTES;

const accessOf = (method: string, url: string): 'operator' | 'principal' | null => {
  const known: Readonly<Record<string, 'operator' | 'principal'>> = ROUTES;
  return known[`${method === 'HEAD' ? 'GET' : method} ${url}`] ?? null;
};

/** Throws for a route that has no entry in the table. To be called before the first route. */
export const requireEntries = (app: FastifyInstance): void => {
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat())
      if (accessOf(each, url) === null)
        throw new Error(`${each} ${url} is not in the table of routes: add it to routes.ts`);
  });
};

/** Throws Problem. */
export const authorizeRoute = (principal: Principal, { method, routeOptions }: FastifyRequest): void => {
  if (principal.kind === 'operator' || accessOf(method, routeOptions.url ?? '') !== 'operator') return;
  throw new Problem(
    403,
    'not_yours',
    `the token belongs to ${principal.kind} ${principal.name}: tokens are the operator's, who shows VIGIL_GATEWAY_TOKEN`,
  );
};
