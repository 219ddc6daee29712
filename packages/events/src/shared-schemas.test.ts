import { afterAll, describe, expect, test } from 'vitest';
import { KeepSchemasCompatible } from './errors.ts';
import { Topic, type TopicName } from './generated/catalogue.ts';
import { openMemoryRegistry } from './registry.fixture.ts';
import { connectCodec, registerSchemas } from './registry.ts';
import { openRegistry } from './registry-access.ts';
import { type SchemaTable, tableCodec } from './schema-table.ts';
import { schemaOf } from './schemas.ts';
import { codecContract, type SharedSchemas } from './testing/codec.contract.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const onRegistry = async (): Promise<SharedSchemas> => {
  const { url } = stack.use(await openMemoryRegistry());
  const registry = openRegistry(url);
  await registerSchemas(registry);
  const add = async (subject: string, schema: string) => {
    const body = JSON.stringify({ schema });
    const answer = await fetch(`${url}/subjects/${subject}/versions`, { method: 'POST', body });
    return ((await answer.json()) as { readonly id: number }).id;
  };
  return { connect: (topics) => connectCodec(registry, topics), add };
};

const tableInMemory = (): SchemaTable => {
  const rows: { readonly subject: string; readonly json: string }[] = [];
  return {
    register: (schemas) =>
      schemas.map(({ subject, json, permit }) => {
        const known = rows.findIndex((row) => row.subject === subject && row.json === json);
        if (known !== -1) return known + 1;
        permit(rows.filter((row) => row.subject === subject).map((row) => row.json));
        return rows.push({ subject, json });
      }),
    find: (id) => rows[id - 1]?.json,
  };
};

const onTable = async (): Promise<SharedSchemas> => {
  const table = tableInMemory();
  return {
    connect: async (topics: readonly TopicName[]) => tableCodec(table, topics),
    add: async (subject, json) => table.register([{ subject, json, permit: () => {} }])[0] ?? 0,
  };
};

describe('a codec on a registry', () => codecContract(onRegistry));
describe('a codec on a table', () => codecContract(onTable));

const nudge = schemaOf(Topic.agentIntervention, 'NUDGE_SENT');
const withField = (field: object): string => {
  const schema = JSON.parse(nudge.json) as { fields: object[] };
  return JSON.stringify({ ...schema, fields: [...schema.fields, field] });
};
const tableWith = (json: string): SchemaTable => {
  const table = tableInMemory();
  table.register([{ subject: nudge.subject, json, permit: () => {} }]);
  return table;
};

test('a schema that could not read what is stored is refused, with its subject', () => {
  const earlier = withField({ name: 'colour', type: 'string' });
  // The earlier schema cannot read what the present one writes.
  expect(() => tableCodec(tableWith(earlier), [Topic.agentIntervention])).toThrow(KeepSchemasCompatible);
  expect(() => tableCodec(tableWith(earlier), [Topic.agentIntervention])).toThrow(nudge.subject);
});

test('a schema that has lost a field with a default is compatible', () => {
  const earlier = withField({ name: 'colour', type: ['null', 'string'], default: null });
  expect(() => tableCodec(tableWith(earlier), [Topic.agentIntervention])).not.toThrow();
});
