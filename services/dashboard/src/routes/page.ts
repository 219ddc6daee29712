import { existsSync } from 'node:fs';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { sendPage } from '../page.ts';
import { Problem } from '../problem.ts';

/** The page runs only its own script and style, sends requests to the dashboard only, and is in no frame. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  // The browser asks whether its copy is current.
  'cache-control': 'no-cache',
};

const NOT_BUILT = {
  title: 'Vigil',
  text: 'This dashboard has no page: VIGIL_PAGE_FOLDER names a folder without index.html. The commands of `vigil` and the API work.',
  facts: {},
  button: null,
};

/** The page for people, as built in `folder`: index.html, and what it loads below assets/. It has no data of its own, so it needs no token. */
export const pageRoutes = (app: FastifyInstance, folder: string): void => {
  app.register(fastifyStatic, { root: folder, serve: false, cacheControl: false, dotfiles: 'ignore' });
  app.get('/', async (_, reply) =>
    existsSync(path.join(folder, 'index.html'))
      ? reply.headers(PAGE_HEADERS).sendFile('index.html')
      : sendPage(reply, 200, NOT_BUILT),
  );
  app.get<{ Params: { '*': string } }>('/assets/*', async ({ params, url }, reply) => {
    if (params['*'].split(/[\\/]/).includes('..'))
      throw new Problem(404, 'no_such_page', `${url} is not a file of the page`);
    return reply.headers(PAGE_HEADERS).sendFile(`assets/${params['*']}`);
  });
};
