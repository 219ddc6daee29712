import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { openRegistry } from './registry-access.ts';
import { checkSchemas } from './schema-check.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

/** A registry that answers each path with a status and a body, and counts what would change it. */
const registryThat = async (answer: (path: string) => readonly [status: number, body: object]) => {
  const changes: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    request.resume();
    if (/^\/subjects\/[^/]+\/versions/.test(path) || path.startsWith('/config')) changes.push(path);
    const [status, body] = answer(path);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void server.close());
  return { registry: openRegistry(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), changes };
};
const kindsOf = async (answer: (path: string) => readonly [status: number, body: object]) => {
  const { registry, changes } = await registryThat(answer);
  const checks = await checkSchemas(registry);
  expect(changes).toEqual([]);
  return { kinds: [...new Set(checks.map(({ kind }) => kind))], first: checks[0] };
};
const isComparison = (path: string): boolean => path.startsWith('/compatibility');

test('a schema that the registry has is registered', async () => {
  expect((await kindsOf(() => [200, { id: 1 }])).kinds).toEqual(['registered']);
});

test('a schema of an unknown subject, and one that the registry would take, are missing', async () => {
  expect((await kindsOf(() => [404, {}])).kinds).toEqual(['missing']);
  const compatible = await kindsOf((path) => (isComparison(path) ? [200, { is_compatible: true }] : [404, {}]));
  expect(compatible.kinds).toEqual(['missing']);
});

test('a schema that the registry would refuse is incompatible, with its reason', async () => {
  const answer = { is_compatible: false, messages: ['a field has no default'] };
  const { kinds, first } = await kindsOf((path) => (isComparison(path) ? [200, answer] : [404, {}]));
  expect(kinds).toEqual(['incompatible']);
  expect(first).toMatchObject({ why: 'a field has no default' });
});

test('nothing is compared where a registry refuses the request', async () => {
  const { registry } = await registryThat(() => [401, {}]);
  await expect(checkSchemas(registry)).rejects.toThrow('it answers 401');
});
