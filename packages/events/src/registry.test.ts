import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { UnknownSchemaId } from './errors.ts';
import { Topic } from './generated/catalogue.ts';
import { connectCodec } from './registry.ts';
import { openRegistry } from './registry-access.ts';

const servers: { close: () => void }[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) server.close();
});

/** The address of a registry that always gives this answer. */
const registryOf = async (status: number, body: object): Promise<string> => {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** The result of learning an id from a registry with this answer. */
const learning = async (status: number, body: object) => {
  const codec = await connectCodec(openRegistry(await registryOf(status, body)), []);
  return codec.learn(new UnknownSchemaId(7)).catch((error: Error) => error);
};

test('an id that the registry does not have is the fault of the record', async () => {
  expect(await learning(404, { error_code: 40403 })).toMatchObject({ reason: 'unknown_schema_id' });
});

test.each([
  ['JSON Schema', { schemaType: 'JSON', schema: '{"type":"object"}' }],
  ['Protobuf', { schemaType: 'PROTOBUF', schema: 'syntax = "proto3"; message A { string a = 1; }' }],
  ['a type of the future', { schemaType: 'CBOR', schema: 'x' }],
  ['invalid Avro', { schema: '{"type":"nonsense"}' }],
])(
  'a schema in %s makes a dead letter too: other users of the registry must not stop the service',
  async (_type, body) => {
    expect(await learning(200, body)).toMatchObject({ name: 'Undecodable', reason: 'unknown_schema_id' });
  },
);

test('a registry that answers with an error is a RegistryTrouble, and the record is not at fault', async () => {
  expect(await learning(500, { error_code: 50001 })).toMatchObject({ name: 'RegistryTrouble' });
});

test('so is an unreachable registry', async () => {
  const codec = await connectCodec(openRegistry('http://127.0.0.1:1'), []);
  await expect(codec.learn(new UnknownSchemaId(7))).rejects.toMatchObject({ name: 'RegistryTrouble' });
});

test('so is a registry that accepts the request and does not answer within five seconds', async () => {
  const requested = Promise.withResolvers<void>();
  const server = createServer(() => requested.resolve());
  servers.push({ close: () => server.closeAllConnections() }, server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const codec = await connectCodec(openRegistry(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), []);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const learned = codec.learn(new UnknownSchemaId(7)).catch((error: Error) => error);
  await requested.promise;
  vi.advanceTimersByTime(5000);
  expect(await learned).toMatchObject({ name: 'RegistryTrouble' });
});

test.each([
  [404, { error_code: 40403 }, /is not registered at .*: run "vigil schemas register"/],
  [500, { error_code: 50001 }, /does not answer for onex\.cmd\.alerting\.notify/],
  [401, { error_code: 40101 }, /refuses the credentials .*: correct SCHEMA_REGISTRY_AUTH/],
  [403, { error_code: 40301 }, /refuses the credentials/],
])(
  'connecting to a registry that answers %i names the fault: a missing schema, its health, or the credentials',
  async (status, body, message) => {
    const url = await registryOf(status, body);
    await expect(connectCodec(openRegistry(url), [Topic.notify])).rejects.toThrow(message);
  },
);
