import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { registerSchemas } from './registry.ts';
import { openRegistry } from './registry-access.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

/** A registry that another process is registering at, too: the level of each subject is not there the first `times` times. */
const sharedRegistry = async (times: number) => {
  const looks = new Map<string, number>();
  const server = createServer((request, response) => {
    const { url = '' } = request;
    request.resume();
    const looked = (looks.get(url) ?? 0) + 1;
    if (url.startsWith('/config')) looks.set(url, looked);
    const body = url.startsWith('/config')
      ? { compatibilityLevel: looked > times ? 'FULL_TRANSITIVE' : 'NONE' }
      : { id: 7, version: 1 };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void server.close());
  return openRegistry(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
};

test('a schema that another process registers at the same time is registered again', async () => {
  const done: number[] = [];
  await registerSchemas(await sharedRegistry(1), (count, of) => done.push(of - count));
  expect(done.at(-1)).toBe(0);
  expect(new Set(done).size).toBe(done.length);
});

test('a schema that the registry refuses each time is named', async () => {
  const registry = await sharedRegistry(Number.POSITIVE_INFINITY);
  await expect(registerSchemas(registry)).rejects.toThrow(/refuses \d+ schemas:\n.*FULL_TRANSITIVE/s);
});
