import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { registerSchemas } from './registry.ts';
import { openRegistry } from './registry-access.ts';
import { checkSchemas } from './schema-check.ts';

const registry = openRegistry(process.env.SCHEMA_REGISTRY_URL ?? '');

test('a registry with every schema lacks none', async () => {
  await registerSchemas(registry);
  expect(new Set((await checkSchemas(registry)).map(({ kind }) => kind))).toEqual(new Set(['registered']));
}, 120_000);

test('an unknown subject is missing, an added field with a default too, and one without is incompatible', async () => {
  const subject = `check-${randomBytes(4).toString('hex')}-value`;
  const schema = (...fields: readonly object[]): string =>
    JSON.stringify({ type: 'record', name: 'Checked', fields: [{ name: 'id', type: 'string' }, ...fields] });
  const kindOf = async (json: string) => (await checkSchemas(registry, [{ subject, json }]))[0]?.kind;
  expect(await kindOf(schema())).toBe('missing');
  const headers = { 'content-type': 'application/vnd.schemaregistry.v1+json' };
  const send = async (method: string, path: string, body: object) => {
    const response = await fetch(`${registry.url}${path}`, { method, headers, body: JSON.stringify(body) });
    expect(response.status, path).toBe(200);
  };
  await send('POST', `/subjects/${subject}/versions`, { schema: schema(), schemaType: 'AVRO' });
  await send('PUT', `/config/${subject}`, { compatibility: 'FULL_TRANSITIVE' });
  expect(await kindOf(schema())).toBe('registered');
  expect(await kindOf(schema({ name: 'more', type: ['null', 'string'], default: null }))).toBe('missing');
  expect(await kindOf(schema({ name: 'more', type: 'string' }))).toBe('incompatible');
}, 60_000);
