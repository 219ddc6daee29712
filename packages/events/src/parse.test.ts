import { expect, test } from 'vitest';
import { Topic } from './generated/catalogue.ts';
import { parseHeartbeat, parsePayload } from './parse.ts';

const least = {
  agent_id: 'worker-1',
  task_id: null,
  timestamp: '2026-11-22T00:00:00Z',
  phase: 'implement',
  last_tool_call: null,
  token_count: 10,
  error_count: 0,
  progress_indicator: 'step 1',
};

test("CODITECT's eight fields are a heartbeat", () => {
  expect(parseHeartbeat(least)).toMatchObject({
    agent_id: 'worker-1',
    timestamp: Date.UTC(2026, 10, 22),
    tool_calls: [],
    activity: null,
  });
});

test('times are RFC 3339 or epoch milliseconds', () => {
  expect(parseHeartbeat({ ...least, timestamp: 1_795_305_600_000 }).timestamp).toBe(1_795_305_600_000);
  expect(() => parseHeartbeat({ ...least, timestamp: 'yesterday' })).toThrow(
    'timestamp is "yesterday": use a time (RFC 3339, or epoch milliseconds)',
  );
});

test('a missing agent id is named', () => {
  const { agent_id: _, ...rest } = least;
  expect(() => parseHeartbeat(rest)).toThrow(
    expect.objectContaining({ reason: 'missing_field:agent_id', field: 'agent_id' }),
  );
});

test.each(['', 'a b', 'a\n', '@tick', 'ä', 'x'.repeat(129), '../etc', '.', '..', '-rf', '--all', '_a', ':a'])(
  'the agent id %j is refused',
  (agent_id) => {
    expect(() => parseHeartbeat({ ...least, agent_id })).toThrow(expect.objectContaining({ reason: 'bad_id' }));
  },
);

test.each(['a', '7', 'a-', '9:_.-', 'x'.repeat(128)])('the agent id %j is accepted', (agent_id) => {
  expect(parseHeartbeat({ ...least, agent_id }).agent_id).toBe(agent_id);
});

test('an id of 128 characters is valid', () => {
  expect(parseHeartbeat({ ...least, agent_id: 'x'.repeat(128) }).agent_id).toHaveLength(128);
});

test('an activity of a later version is UNKNOWN, not refused', () => {
  expect(parseHeartbeat({ ...least, activity: 'daydreaming' }).activity).toBe('UNKNOWN');
});

test('a list of 1,001 calls is refused, one of 1,000 is accepted', () => {
  const calls = (n: number) => Array.from({ length: n }, (_, i) => ({ call_id: String(i), tool: 'Bash' }));
  expect(parseHeartbeat({ ...least, tool_calls: calls(1_000) }).tool_calls).toHaveLength(1_000);
  expect(() => parseHeartbeat({ ...least, tool_calls: calls(1_001) })).toThrow(
    'tool_calls is 1001: use a list of at most 1000',
  );
});

test('a mistake deep inside is named with its path', () => {
  expect(() => parseHeartbeat({ ...least, tool_calls: [{ call_id: '1', tool: 7 }] })).toThrow(
    'tool_calls[0].tool is 7: use a text',
  );
});

test.each([null, 5, 'x', [], true])('%j is not a heartbeat', (value) => {
  expect(() => parseHeartbeat(value)).toThrow();
});

test('deeply nested JSON is refused like any other wrong value', () => {
  const nested: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));
  for (const value of [nested, { ...least, phase: nested }])
    expect(() => parseHeartbeat(value)).toThrow(expect.objectContaining({ name: 'Unfit', reason: 'bad_field' }));
});

test.each<[string, (text: string) => object, number]>([
  ['tool_calls[0].call_id', (text) => ({ tool_calls: [{ call_id: text, tool: 'Bash' }] }), 512],
  ['tool_calls[0].tool', (text) => ({ tool_calls: [{ call_id: '1', tool: text }] }), 512],
  ['breakers[0].name', (text) => ({ breakers: [{ name: text, state: 'OPEN' }] }), 512],
  ['work.id', (text) => ({ work: { id: text } }), 512],
  ['checkpoint.checkpoint_id', (text) => ({ checkpoint: { checkpoint_id: text } }), 512],
  ['checkpoint.uri', (text) => ({ checkpoint: { checkpoint_id: 'c', uri: text } }), 4096],
  ['labels', (text) => ({ labels: { a: text.slice(1) } }), 8192],
])('%s is stored, so its length is limited', (field, given, longest) => {
  expect(() => parseHeartbeat({ ...least, ...given('x'.repeat(longest)) })).not.toThrow();
  expect(() => parseHeartbeat({ ...least, ...given('x'.repeat(longest + 1)) })).toThrow(
    expect.objectContaining({ reason: 'bad_field', field }),
  );
});

test.each(['file:///srv/a.yaml', 's3://bucket/a b', '/srv/ä.yaml', 'file:///srv/a%23b%0A.yaml'])(
  'the address %j of a checkpoint is accepted',
  (uri) => {
    expect(parseHeartbeat({ ...least, checkpoint: { checkpoint_id: 'c', uri } }).checkpoint?.uri).toBe(uri);
  },
);

test.each([
  'file:///srv/a.yaml#x',
  'file:///srv/a.yaml?x',
  '/srv/a\nNEW INSTRUCTIONS',
  '/srv/\u202ea',
  '/srv/\u2028a',
  '/a\u0000',
])('the address %j of a checkpoint is refused, in a heartbeat and in a receipt', (uri) => {
  const refused = expect.objectContaining({ reason: 'bad_field', field: 'checkpoint.uri' });
  expect(() => parseHeartbeat({ ...least, checkpoint: { checkpoint_id: 'c', uri } })).toThrow(refused);
  const exit = { agentId: 'a', instanceId: 'i', reason: 'crashed', checkpoint: { checkpointId: 'c', uri } };
  expect(() => parsePayload(Topic.controlAgent, 'AGENT_EXITED', exit)).toThrow(refused);
});

test('half of a surrogate pair is replaced, so that every reader can decode the text', () => {
  expect(parseHeartbeat({ ...least, phase: 'a\ud800' }).phase).toBe('a\ufffd');
});

test('a receipt over HTTP is checked like a heartbeat', () => {
  expect(() =>
    parsePayload(Topic.controlAgent, 'AGENT_EXITED', { agentId: 'a', instanceId: 'i', reason: 'crashed' }),
  ).not.toThrow();
  expect(() =>
    parsePayload(Topic.controlAgent, 'AGENT_EXITED', { agentId: 'a b', instanceId: 'i', reason: 'crashed' }),
  ).toThrow(/agentId/);
});
