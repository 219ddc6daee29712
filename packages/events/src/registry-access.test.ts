import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { UnknownSchemaId } from './errors.ts';
import { Topic } from './generated/catalogue.ts';
import { connectCodec, registerSchemas } from './registry.ts';
import { openRegistry, registryFrom } from './registry-access.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-registry-access-'));
afterAll(() => rmSync(dir, { recursive: true }));
const file = (name: string, content: string): string => {
  const at = path.join(dir, name);
  writeFileSync(at, content);
  return at;
};
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

/**
 * A proxy that requires this header before it answers for the registry. It answers id 7 to each registration and
 * look-up.
 */
const proxyDemanding = async (header: () => string): Promise<string> => {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    request.resume();
    if (request.headers.authorization !== header()) return answer(401, { error_code: 40101, message: 'unauthorized' });
    if (request.url?.startsWith('/schemas/ids/')) return answer(200, { schema: '"string"' });
    if (request.url?.startsWith('/config')) return answer(200, { compatibilityLevel: 'FULL_TRANSITIVE' });
    return answer(200, { id: 7, version: 1 });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const basic = { SCHEMA_REGISTRY_AUTH: 'basic', SCHEMA_REGISTRY_USERNAME: 'vigil', SCHEMA_REGISTRY_PASSWORD: 'hunter2' };
const header = `Basic ${Buffer.from('vigil:hunter2').toString('base64')}`;

test('user and password open a registry that demands them: for its ids, its schemas and a registration', async () => {
  const access = registryFrom({ SCHEMA_REGISTRY_URL: await proxyDemanding(() => header), ...basic });
  await registerSchemas(access);
  const codec = await connectCodec(access, [Topic.notify]);
  // The schema of id 9 is not one of Vigil's, so it was read and then refused.
  await expect(codec.learn(new UnknownSchemaId(9))).rejects.not.toMatchObject({ name: 'RegistryTrouble' });
});

test('without them the same registry refuses a start: its variables are to be corrected', async () => {
  const access = openRegistry(await proxyDemanding(() => header));
  await expect(connectCodec(access, [Topic.notify])).rejects.toMatchObject({ name: 'CorrectRegistryVariables' });
  await expect(registerSchemas(access)).rejects.toMatchObject({ name: 'RegistryTrouble' });
});

test('a renewed token is used from the next request on', async () => {
  const SCHEMA_REGISTRY_TOKEN_FILE = file('token', 'first\n');
  let demanded = 'Bearer first';
  const SCHEMA_REGISTRY_URL = await proxyDemanding(() => demanded);
  const access = registryFrom({ SCHEMA_REGISTRY_URL, SCHEMA_REGISTRY_AUTH: 'bearer', SCHEMA_REGISTRY_TOKEN_FILE });
  await connectCodec(access, [Topic.notify]);
  demanded = 'Bearer second';
  await expect(connectCodec(access, [Topic.notify])).rejects.toMatchObject({ name: 'CorrectRegistryVariables' });
  writeFileSync(SCHEMA_REGISTRY_TOKEN_FILE, 'second\n');
  await connectCodec(access, [Topic.notify]);
});

const SCHEMA_REGISTRY_URL = 'http://registry';
test.each([
  ['a user without a kind', { SCHEMA_REGISTRY_USERNAME: 'x' }, 'SCHEMA_REGISTRY_AUTH is not: set it to'],
  ['another kind', { SCHEMA_REGISTRY_AUTH: 'digest' }, 'is "digest": give basic or bearer'],
  ['basic without a user', { ...basic, SCHEMA_REGISTRY_USERNAME: '' }, 'set SCHEMA_REGISTRY_USERNAME as well'],
  ['basic without a password', { ...basic, SCHEMA_REGISTRY_PASSWORD: '' }, 'set SCHEMA_REGISTRY_PASSWORD_FILE as well'],
  ['two passwords', { ...basic, SCHEMA_REGISTRY_PASSWORD_FILE: '/x' }, 'are both set'],
  ['bearer without a token', { SCHEMA_REGISTRY_AUTH: 'bearer' }, 'set SCHEMA_REGISTRY_TOKEN_FILE as well'],
  ['bearer with a user', { ...basic, SCHEMA_REGISTRY_AUTH: 'bearer' }, 'belongs to basic'],
  ['a missing file', { SCHEMA_REGISTRY_AUTH: 'bearer', SCHEMA_REGISTRY_TOKEN_FILE: '/nowhere' }, 'cannot be read'],
])('%s is refused with its remedy, and no password is shown', (_, variables, remedy) => {
  const refused = (): unknown => registryFrom({ SCHEMA_REGISTRY_URL, ...variables });
  expect(refused).toThrow(remedy);
  expect(refused).not.toThrow('hunter2');
});
