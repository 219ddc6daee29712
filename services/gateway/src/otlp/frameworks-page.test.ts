import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { testGateway } from '../testing.ts';
import { callsOf, exporter } from './exports.fixture.ts';

const docs = path.resolve(import.meta.dirname, '../../../../docs');
const page = readFileSync(path.join(docs, 'clients/frameworks.md'), 'utf8');
const spans = JSON.parse(readFileSync(path.join(docs, 'examples/9-spans.json'), 'utf8'));

const { send, heartbeats } = exporter(testGateway());

test('the export of the page about frameworks reports its call and its tokens for the agent that it names', async () => {
  expect(page).toContain('"$VIGIL_GATEWAY_URL/otlp/v1/traces" -d @docs/examples/9-spans.json');
  expect((await send({ signal: 'traces', json: spans })).status).toBe(200);
  expect(heartbeats().at(-1)).toMatchObject({
    ...{ agent_id: 'example-9', task_id: 'EX-9', policy: 'vigil', token_count: 105, client: { name: 'crew' } },
  });
  const [call] = callsOf(heartbeats());
  expect(call).toMatchObject({ call_id: 'call-1', tool: 'search', outcome: 'ok' });
  expect([call?.args_hash, call?.result_hash]).not.toContain(null);
  expect(JSON.stringify(heartbeats())).not.toContain('three pages');
});

test('the variables of the page name the same agent, task and policy as its export', () => {
  const [, given = ''] = /OTEL_RESOURCE_ATTRIBUTES=(\S+)/.exec(page) ?? [];
  type Attribute = { readonly key: string; readonly value: { readonly stringValue: string } };
  const exported: readonly Attribute[] = spans.resourceSpans[0].resource.attributes;
  const named = exported.filter(({ key }) => key.startsWith('vigil.'));
  expect(named.map(({ key, value }) => `${key}=${value.stringValue}`).join(',')).toBe(given);
});
