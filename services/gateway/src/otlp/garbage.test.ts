import { expect, test } from 'vitest';
import { testGateway } from '../testing.ts';
import { attributes, exporter } from './exports.fixture.ts';

const gateway = testGateway();
const { send, heartbeats } = exporter(gateway);

const at = Date.parse('2026-11-23T12:00:00Z');
const logOf = (name: string, more: Record<string, string | number>, time: unknown = `${at}000000`) => ({
  signal: 'logs',
  json: {
    resourceLogs: [
      {
        resource: { attributes: attributes({ 'vigil.agent': 'worker-1' }) },
        scopeLogs: [
          {
            logRecords: [
              {
                timeUnixNano: time,
                body: { stringValue: `claude_code.${name}` },
                attributes: attributes({ 'session.id': 's-1', 'event.name': name, ...more }),
              },
            ],
          },
        ],
      },
    ],
  },
});

const ended = { tool_use_id: 't-1', tool_name: 'Bash', success: 'true' };

test.each([
  ['a duration that is not whole', logOf('tool_result', { ...ended, duration_ms: '12.5' })],
  ['a duration below zero', logOf('tool_result', { ...ended, duration_ms: '-12' })],
  ['a duration without end', logOf('tool_result', { ...ended, duration_ms: '1e300' })],
  ['more tokens than there are', logOf('api_request', { request_id: 'r', input_tokens: '1e300' })],
  ['tokens that are not a number', logOf('api_request', { request_id: 'r', input_tokens: 'NaN' })],
  ['money below zero', logOf('api_request', { request_id: 'r', input_tokens: 1, cost_usd: '-5' })],
  ['a time that is not a number', logOf('tool_result', ended, 'soon')],
  ['a time without end', logOf('tool_result', ended, '9'.repeat(60))],
  ['a time below zero', logOf('tool_result', ended, '-5000000000')],
  ['a long id', logOf('tool_result', { ...ended, tool_use_id: 'x'.repeat(100_000) })],
  ['a long name of a tool', logOf('tool_result', { ...ended, tool_name: 'x'.repeat(100_000) })],
  ['a long name of a model', logOf('api_request', { request_id: 'r', input_tokens: 1, model: 'm'.repeat(100_000) })],
  ['a long name of an agent', logOf('tool_result', { ...ended, agent_id: 'x'.repeat(100_000) })],
])('%s in telemetry spoils nothing that follows', async (_, garbage) => {
  const first = await send(garbage);
  const next = await send(logOf('tool_result', { ...ended, tool_use_id: 't-2', duration_ms: 5 }));
  expect([first.status, next.status]).toEqual([200, 200]);
  const last = heartbeats().findLast(({ agent_id }) => agent_id === 'worker-1');
  expect(last).toMatchObject({ tool_calls: [{ call_id: 't-2', started_at: at - 5 }] });
  expect(last?.cost_usd ?? 0).toBe(0);
});

test('a body that is not gzip, of a type that is not taken, is refused, and the gateway continues', async () => {
  for (const type of ['text/plain', 'application/json']) {
    const headers = { 'content-type': type, 'content-encoding': 'gzip' };
    const answer = await gateway.postRaw('/otlp/v1/logs', 'not gzip', headers);
    expect([400, 415]).toContain(answer.status);
    await answer.text();
  }
  expect((await send(logOf('tool_result', { ...ended, duration_ms: 5 }))).status).toBe(200);
});
