import { memoryCodec, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { readHeartbeat } from './heartbeat.ts';

const codec = memoryCodec();
const sent = example(Topic.heartbeat, 'HEARTBEAT');
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
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('a heartbeat is read', () => {
  test('from Avro, where the first byte is zero', () => {
    expect(readHeartbeat(codec, 'worker-1', codec.encode(sent))).toEqual(sent.payload);
  });

  test('from JSON, with defaults for omitted fields', () => {
    expect(readHeartbeat(codec, 'worker-1', json(least))).toMatchObject({
      agent_id: 'worker-1',
      timestamp: Date.UTC(2026, 10, 22),
      instance_id: null,
      tool_calls: [],
    });
  });

  test('up to 512 KiB', () => {
    const padded = (length: number) => Buffer.concat([json(least), Buffer.alloc(length - json(least).length, ' ')]);
    expect(readHeartbeat(codec, 'worker-1', padded(512 * 1024)).phase).toBe('implement');
    expect(() => readHeartbeat(codec, 'worker-1', padded(512 * 1024 + 1))).toThrow(
      expect.objectContaining({ reason: 'too_large' }),
    );
  });
});

const avro = codec.encode(sent);
const unmet = Buffer.concat([Buffer.from([0, 0, 0, 0x27, 0x0f]), avro.subarray(5)]);
const elsewhere = codec.encode(example(Topic.controlAgent, 'HOLD_AGENT'));
const { agent_id: _, ...nameless } = least;

describe('a dead letter has the reason', () => {
  test.each<[string, string, Buffer, string]>([
    ['an empty value', 'worker-1', Buffer.alloc(0), 'not_json'],
    ['words', 'worker-1', Buffer.from('I am fine'), 'not_json'],
    ['half a document', 'worker-1', json(least).subarray(0, 40), 'not_json'],
    ['a list', 'worker-1', json([least]), 'bad_field'],
    ['invalid UTF-8', 'worker-1', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]), 'invalid_utf8'],
    ['gzip', 'worker-1', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), 'invalid_utf8'],
    ['Avro that ends too early', 'worker-1', avro.subarray(0, 20), 'not_avro'],
    ['Avro with bytes after it', 'worker-1', Buffer.concat([avro, Buffer.from('x')]), 'not_avro'],
    ['a frame without a schema id', 'worker-1', Buffer.from([0, 0]), 'not_avro'],
    ['an event of another topic', 'worker-1', elsewhere, 'wrong_topic'],
    ['no agent id', 'worker-1', json(nameless), 'missing_field:agent_id'],
    ['an agent id with a line break', 'worker-1', json({ ...least, agent_id: 'a\nb' }), 'bad_id'],
    ['a hostile task id', 'worker-1', json({ ...least, task_id: "'; DROP TABLE agents; --" }), 'bad_id'],
    ['a negative count', 'worker-1', json({ ...least, token_count: -1 }), 'bad_field'],
    ['another key', 'worker-2', json(least), 'key_mismatch'],
    ['another key, in Avro', 'worker-2', avro, 'key_mismatch'],
  ])('%s', (_name, key, value, reason) => {
    expect(() => readHeartbeat(codec, key, value)).toThrow(expect.objectContaining({ reason }));
  });

  test('no key', () => {
    expect(() => readHeartbeat(codec, null, json(least))).toThrow(
      'agent_id is "worker-1", the record\'s key is no key: they must be equal',
    );
  });

  test('but an id that this codec has not met is asked of the registry first', () => {
    expect(() => readHeartbeat(codec, 'worker-1', unmet)).toThrow(expect.objectContaining({ name: 'UnknownSchemaId' }));
  });
});
