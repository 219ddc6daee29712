import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { COOKIE, type Credential, sessionOf } from '../access/authentication.ts';
import type { Caller, People } from '../access/people.ts';
import { SESSION_MS, type Sessions, sessionText } from '../access/sessions.ts';
import { commandsOf } from '../commands/command.ts';
import { Problem } from '../problem.ts';

export type LoginDeps = {
  readonly people: People;
  readonly sessions: Sessions;
  /** whether browsers reach the dashboard by HTTPS only */
  readonly isSecure: boolean;
};

const loginQuery = z.object({ code: z.string().max(200) });

const NO_CODE = new Problem(400, 'no_code', 'The address has no code: use the complete link of `vigil login`.', 'code');
const USED = new Problem(
  410,
  'link_used',
  'The link has been used, or is more than five minutes old: `vigil login` prints another.',
);
const NEEDS_TOKEN = new Problem(
  403,
  'needs_token',
  'A browser that has logged in cannot create a login link: `vigil login` creates it with your token.',
);

/** Login of browsers: a link that works once begins a session, whose cookie no script can read. */
export const loginRoutes = (app: FastifyInstance, { people, sessions, isSecure }: LoginDeps): void => {
  const cookie = { path: '/', httpOnly: true, sameSite: 'strict', secure: isSecure, signed: true } as const;

  app.post('/v1/login-links', async (request, reply) => {
    const credential = request.getDecorator<Credential>('credential');
    if (credential.kind === 'session') throw NEEDS_TOKEN;
    const { code, expiresAt } = sessions.createLink(credential.tokenHash);
    return reply.code(201).send({ path: `/login?code=${code}`, expiresAt });
  });

  // HEAD would use the link.
  app.get('/login', { exposeHeadRoute: false }, async (request, reply) => {
    const query = loginQuery.safeParse(request.query);
    if (!query.success) throw NO_CODE;
    const begun = sessions.begin(query.data.code);
    if (begun !== null)
      reply.setCookie(COOKIE, sessionText(begun), { ...cookie, maxAge: Math.floor(SESSION_MS / 1000) });
    // A browser that has logged in may load the address again.
    const session = begun ?? sessionOf(request, sessions);
    if (session === null || people.callerOfHash(session.tokenHash) === null) throw USED;
    return reply.redirect('/', 303);
  });

  app.post('/v1/logout', async (request, reply) => {
    const credential = request.getDecorator<Credential>('credential');
    if (credential.kind === 'session') sessions.end(credential.session);
    return reply.clearCookie(COOKIE, cookie).code(204).send();
  });

  app.get('/v1/me', async (request) => {
    const { name, role } = request.getDecorator<Caller>('caller');
    return { name, role, commands: commandsOf(role) };
  });
};
