import { hashOfToken, includesRole } from '@vigil/read-model/people';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../problem.ts';
import { type Caller, needs, type People } from './people.ts';
import { READS_ITS_ROLE, roleOfRoute } from './roles.ts';
import type { Session, Sessions } from './sessions.ts';

/** The cookie of a session. */
export const COOKIE = 'vigil_session';

const BEARER = /^Bearer +(\S+)$/i;

/** The route of a request, as the table of roles names it. */
export const routeOf = ({ method, routeOptions }: FastifyRequest): string =>
  `${method === 'HEAD' ? 'GET' : method} ${routeOptions.url ?? ''}`;
export const roleOf = (request: FastifyRequest) => roleOfRoute(routeOf(request));

/** How a request shows who sends it: by a bearer token, or by the cookie of a session that began with the token. */
export type Credential =
  | { readonly kind: 'token'; readonly tokenHash: string }
  | { readonly kind: 'session'; readonly tokenHash: string; readonly session: Session };

const credentialOf = (request: FastifyRequest, sessions: Sessions): Credential | null => {
  const [, token] = BEARER.exec(request.headers.authorization ?? '') ?? [];
  if (token !== undefined) return { kind: 'token', tokenHash: hashOfToken(token) };
  const session = sessionOf(request, sessions);
  return session === null ? null : { kind: 'session', tokenHash: session.tokenHash, session };
};

export const sessionOf = (request: FastifyRequest, sessions: Sessions): Session | null => {
  const cookie = request.cookies[COOKIE];
  const { value } = cookie === undefined ? { value: null } : request.unsignCookie(cookie);
  return value === null ? null : sessions.read(value);
};

/** A browser adds the cookie to requests of any page of this site, and names the origin of the page. */
const requireOwnOrigin = ({ headers: { origin, host } }: FastifyRequest): void => {
  if (origin !== undefined && URL.canParse(origin) && new URL(origin).host === host) return;
  throw new Problem(
    403,
    'other_origin',
    `A change with the cookie of a session must come from the dashboard's own page, and its Origin is ${JSON.stringify(origin ?? '')}: use a token instead.`,
  );
};

const CHANGES_NOTHING = new Set(['GET', 'HEAD']);

/** Every route has a role, and a request needs it. */
export const requireRoles = (app: FastifyInstance, people: People, sessions: Sessions): void => {
  app.decorateRequest('caller');
  app.decorateRequest('credential');
  app.decorateRequest('isValid');
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat())
      if (each !== 'HEAD' && roleOfRoute(`${each} ${url}`) === undefined)
        throw new Error(`${each} ${url} has no role: give it one in roles.ts`);
  });
  app.addHook('onRequest', async (request) => {
    const role = roleOf(request);
    if (role === 'link' || role === 'public') return;
    const credential = credentialOf(request, sessions);
    const current = () => (credential === null ? null : people.callerOfHash(credential.tokenHash));
    const caller = current();
    if (credential === null || caller === null)
      throw new Problem(
        401,
        'no_token',
        'Send `Authorization: Bearer …` with VIGIL_DASHBOARD_TOKEN, or with the token that `vigil token create person` printed. A browser logs in with the link that `vigil login` prints.',
      );
    request.setDecorator<Caller>('caller', caller);
    request.setDecorator<Credential>('credential', credential);
    // A revocation, a logout and the loss of the role end streams that are open as well.
    const isLoggedIn = () => credential.kind === 'token' || sessionOf(request, sessions) !== null;
    const isPermitted = (one: Caller | null): boolean =>
      one !== null && (role === undefined || includesRole(one.role, role));
    request.setDecorator<() => boolean>('isValid', () => isPermitted(current()) && isLoggedIn());
    if (credential.kind === 'session' && !CHANGES_NOTHING.has(request.method)) requireOwnOrigin(request);
    if (role !== undefined && !READS_ITS_ROLE.has(routeOf(request)) && !includesRole(caller.role, role))
      throw new Problem(403, 'not_permitted', needs(caller, role, routeOf(request)));
  });
};
