import { createHash } from 'node:crypto';
import type { Codec } from '@vigil/events';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';

type Bytes = Buffer<ArrayBuffer>;
/** Records over Kafka, in order; the last is the bad one. `astray`: in the wrong partition; `codec`: by another client. */
type Sent = { readonly key: string | null; readonly value: Bytes | null };
export type Input = {
  readonly records: readonly Sent[];
  readonly astray?: true;
  readonly codec?: 'gzip' | 'snappy' | 'lz4' | 'zstd';
  /** bodies over HTTP; default: the values of the records */
  readonly bodies?: readonly Bytes[];
};

/** CODITECT's eight fields. */
export const heartbeat = (agentId: string, more: object = {}) => ({
  agent_id: agentId,
  task_id: null,
  timestamp: Date.now(),
  phase: 'implement',
  last_tool_call: null,
  token_count: 1,
  error_count: 0,
  progress_indicator: '1',
  ...more,
});
const json = (value: unknown): Bytes => Buffer.from(JSON.stringify(value)) as Bytes;
const bytes = (...list: number[]): Bytes => Buffer.from(list) as Bytes;
const DAY_MS = 86_400_000;
const LARGE = 'x'.repeat(600_000);
export const HOSTILE = `<script>alert(1)</script> '; DROP TABLE agents; -- \u001b[2J\u0007\u0000\u202e`;
const SYMBOLS = { reporter: 'ghost', activity: 'dancing', shoe_size: 43 };

/** Every line of the table by its first cell. `id`: an agent id that no other test uses. */
export const inputs = (id: string, codec: Codec): Readonly<Record<string, Input>> => {
  const one = (value: Bytes | null, key: string | null = id): Input => ({ records: [{ key, value }] });
  const with_ = (more: object): Input => one(json(heartbeat(id, more)));
  const named = (name: string): Input => one(json(heartbeat(name)), name);
  const { agent_id: _, ...nameless } = heartbeat(id);
  const elsewhere = codec.encode(example(Topic.controlAgent, 'HOLD_AGENT')) as Bytes;
  const instances = ['1', '2', '1'].map((instance, n) =>
    json(heartbeat(id, { instance_id: `${id}.${instance}`, sequence: n })),
  );
  const compressed = (by: Input['codec']): Input => ({ ...with_({}), ...(by && { codec: by }) });
  const proto = json(heartbeat('constructor', {}))
    .toString()
    .replace('{', '{"labels":{"__proto__":"x","team":"t"},"__proto__":{"a":1},');
  return {
    'not JSON': one(Buffer.from('I am fine') as Bytes),
    'a document that ends too early': one(json(heartbeat(id)).subarray(0, 40) as Bytes),
    'invalid UTF-8': one(bytes(0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d)),
    'not Avro: a first byte 0 and nothing that follows it': one(bytes(0, 1)),
    'a schema id that the registry does not have': one(bytes(0, 0x7f, 0xff, 0xff, 0xfe, 1, 2)),
    'an event of another topic, in Avro': one(elsewhere),
    'no agent id': one(json(nameless)),
    'another key than the agent id': one(json(heartbeat(`${id}-other`))),
    'an agent id with a space, an ANSI escape and a NUL': named(`${id} \u001b[2J\u0000`),
    'an agent id of 129 characters': named(id.padEnd(129, 'x')),
    'a task id of SQL': with_({ task_id: "'; DROP TABLE agents; --" }),
    'a count below zero': with_({ token_count: -1 }),
    'an invalid time': with_({ timestamp: 'yesterday' }),
    'a list of more than 1,000': with_({ blockers: Array(1001).fill('x') }),
    'more than 512 KiB': one(json(heartbeat(id, { handoff: incompressible() }))),
    'more than 512 KiB, compressed to less': { ...with_({ handoff: LARGE }), codec: 'gzip' },
    'more than 500,000 bytes, in the wrong partition': { ...with_({ handoff: LARGE }), astray: true },
    'no key': one(json(heartbeat(id)), null),
    'no value': { ...one(null), bodies: [Buffer.alloc(0)] },
    'a key that begins with @, which only the runner writes': named(`@${id}`),
    'an instance that another has replaced': { records: instances.map((value) => ({ key: id, value })) },
    "an agent's first heartbeat, stamped over 24 h ago": with_({ timestamp: Date.now() - DAY_MS - 60_000 }),
    "a verified principal, without the gateway's proof": with_({ verified: { kind: 'runtime', name: 'host-1' } }),
    'the same heartbeat twice': { records: Array(2).fill({ key: id, value: json(heartbeat(id, { sequence: 7 })) }) },
    'a record in the wrong partition': { ...with_({}), astray: true },
    'hostile texts: HTML, SQL, ANSI escapes, NUL': with_({ phase: HOSTILE, progress_indicator: HOSTILE }),
    'half a surrogate pair': one(Buffer.from(JSON.stringify(heartbeat(id)).replace('implement', '\\ud800')) as Bytes),
    '`constructor` as agent id, `__proto__` as a label': one(Buffer.from(proto) as Bytes, 'constructor'),
    'fields that the schema does not have, unknown symbols': with_(SYMBOLS),
    'a policy that is not published, an interval below 1 s': with_({ policy: 'nosuch', interval_ms: 5 }),
    'a batch compressed by gzip, by another client': compressed('gzip'),
    'a batch compressed by snappy, by another client': compressed('snappy'),
    'a batch compressed by lz4, by another client': compressed('lz4'),
    'a batch compressed by zstd, by another client': compressed('zstd'),
  };
};

/** Text that no codec compresses well. */
const incompressible = (): string => createHash('shake256', { outputLength: 900_000 }).update('x').digest('base64');
