import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A registry in memory with the requests that Vigil makes. It refuses nothing. */
export const openMemoryRegistry = async (): Promise<AsyncDisposable & { readonly url: string }> => {
  const schemas: string[] = [];
  const idOf = (schema: string): number => schemas.indexOf(schema) + 1;
  const answer = (method: string, path: string, body: string): readonly [status: number, body: object] => {
    if (path.startsWith('/config')) return [200, { compatibilityLevel: 'FULL_TRANSITIVE' }];
    const [, id] = /^\/schemas\/ids\/(\d+)/.exec(path) ?? [];
    if (id !== undefined) {
      const schema = schemas[Number(id) - 1];
      return schema === undefined ? [404, { error_code: 40403 }] : [200, { schema }];
    }
    const { schema } = JSON.parse(body) as { readonly schema: string };
    if (method === 'POST' && path.endsWith('/versions') && idOf(schema) === 0) schemas.push(schema);
    return idOf(schema) === 0 ? [404, { error_code: 40403 }] : [200, { id: idOf(schema), version: 1 }];
  };
  const server = createServer(async (request, response) => {
    const [status, body] = answer(request.method ?? '', request.url ?? '', (await request.toArray()).join(''));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
