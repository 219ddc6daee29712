import type { Role } from '@vigil/read-model/people';

/** The role that each route needs; `link`: no token, because the route verifies a decision link; `public`: no token. A route that is missing here stops the service at its start. */
export const ROLE_OF_ROUTE = {
  // The page has no data of its own.
  'GET /': 'public',
  'GET /assets/*': 'public',
  // The code in its address is the credential.
  'GET /login': 'public',
  'POST /v1/login-links': 'viewer',
  'POST /v1/logout': 'viewer',
  'GET /v1/me': 'viewer',
  'GET /v1/openapi.json': 'viewer',
  'GET /v1/agents': 'viewer',
  'GET /v1/agents/:id': 'viewer',
  'GET /v1/agents/:id/explain': 'viewer',
  'GET /v1/agents/:id/history': 'viewer',
  // It makes a runtime publish what the agent's terminal shows.
  'GET /v1/agents/:id/terminal': 'operator',
  'GET /v1/inbox': 'viewer',
  'GET /v1/requests/:id': 'viewer',
  'GET /v1/cases': 'viewer',
  'GET /v1/cases/:id': 'viewer',
  'GET /v1/tasks': 'viewer',
  'GET /v1/tasks/:id': 'viewer',
  'GET /v1/breakers': 'viewer',
  'GET /v1/tickets': 'viewer',
  'GET /v1/runtimes': 'viewer',
  'GET /v1/recoveries': 'viewer',
  'GET /v1/story': 'viewer',
  'GET /v1/alerts': 'viewer',
  'GET /v1/silences': 'viewer',
  'GET /v1/fleet': 'viewer',
  'GET /v1/dead-letters': 'viewer',
  'GET /v1/policies': 'viewer',
  'GET /v1/policies/:name': 'viewer',
  'GET /v1/events': 'viewer',
  'GET /v1/changes': 'viewer',
  'GET /v1/fleet/cells': 'viewer',
  'GET /v1/fleet/targets': 'viewer',
  'GET /v1/commands/:id': 'viewer',
  'GET /v1/doctor': 'viewer',
  // They fold what a viewer may read, and write nothing. An operator may also end those of others.
  'POST /v1/replays': 'viewer',
  'GET /v1/replays': 'viewer',
  'GET /v1/replays/:id': 'viewer',
  'DELETE /v1/replays/:id': 'viewer',
  // The file has everything that agents reported, and leaves the dashboard.
  'GET /v1/export': 'operator',
  'GET /v1/decision': 'link',
  'POST /v1/decision': 'link',
  // Each of its tools uses routes of this list.
  'POST /mcp': 'viewer',
  'GET /mcp': 'viewer',
  'DELETE /mcp': 'viewer',
  // Its command needs a role of its own, which is at least responder.
  'POST /v1/commands': 'responder',
} as const satisfies Readonly<Record<string, Role | 'link' | 'public'>>;
export type Route = keyof typeof ROLE_OF_ROUTE;

/** The routes that look at the body for the role: a refusal names the role of the command. */
export const READS_ITS_ROLE: ReadonlySet<string> = new Set<Route>(['POST /v1/commands']);

/** Undefined: there is no such route. `route`: its method and its address. */
export const roleOfRoute = (route: string): Role | 'link' | 'public' | undefined =>
  Object.hasOwn(ROLE_OF_ROUTE, route) ? ROLE_OF_ROUTE[route as Route] : undefined;

/** The parts of an address that its route leaves open: `:id`, and `*` at its end. */
const patternOf = (address: string): RegExp =>
  new RegExp(`^${address.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace('*', '.+')}$`);

const ADDRESSES = Object.keys(ROLE_OF_ROUTE).map((route) => {
  const [method = '', address = ''] = route.split(' ');
  return { method, pattern: patternOf(address) };
});

/** The methods that an address takes; none: it is not an address of the dashboard. `path`: without its query. */
export const methodsOf = (path: string): readonly string[] => {
  const methods = ADDRESSES.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
};
