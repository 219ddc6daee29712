import { timingSafeEqual } from 'node:crypto';
import { openHttp, type Tls } from '@vigil/chassis';
import type { Doctor, ReadModel, SignalsOf } from '@vigil/read-model';
import type { FastifyInstance } from 'fastify';
import { commandRoutes, type Write } from './commands.ts';

import type { Feed } from './feed.ts';
import { Problem, sendProblem } from './problem.ts';
import { eventRoutes } from './routes/events.ts';
import { policyRoutes, readRoutes } from './routes/read.ts';

export type AppDeps = {
  /** null: plain HTTP */
  readonly tls: Tls | null;
  readonly token: string;
  readonly model: ReadModel;
  readonly feed: Feed;
  readonly write: Write;
  readonly signalsOf: SignalsOf;
  readonly doctor: () => Promise<Doctor>;
  /** epoch milliseconds */
  readonly now: () => number;
  /** called with every error whose cause the caller does not receive */
  readonly onFailure: (error: unknown) => void;
  /** ends the streams of events */
  readonly signal: AbortSignal;
};

const same = (given: string, expected: string): boolean => {
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
};

/** The API for people: HTTP in front of the read model and the command topics. */
export const openApp = (deps: AppDeps): FastifyInstance => {
  const options = { bodyLimit: 64 * 1024, requestTimeout: 30_000, forceCloseConnections: true };
  const app = openHttp(options, deps.tls);
  app.setErrorHandler((error, _request, reply) => sendProblem(error, reply, deps.onFailure));
  app.setNotFoundHandler(({ method, url }, reply) =>
    sendProblem(new Problem(404, 'no_such_page', `There is no ${method} ${url}.`), reply, deps.onFailure),
  );
  app.addHook('onRequest', async ({ headers: { authorization = '' } }) => {
    if (same(authorization, `Bearer ${deps.token}`)) return;
    throw new Problem(401, 'no_token', 'Send `Authorization: Bearer …` with the token of VIGIL_DASHBOARD_TOKEN.');
  });
  app.addHook('onRequest', async ({ url }) => {
    if (url.includes('%00')) throw new Problem(400, 'bad_address', 'Nothing has a name with a NUL in it.');
  });
  readRoutes(app, deps.model, deps.signalsOf);
  policyRoutes(app, deps.model);
  commandRoutes(app, deps.model, deps.write, deps.now);
  eventRoutes(app, deps.feed, deps.signal);
  app.get('/v1/doctor', deps.doctor);
  return app;
};
