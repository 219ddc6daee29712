import { expect, test } from 'vitest';
import { clean, inserts, notices } from './apply.ts';
import { isDataError } from './database.ts';
import { instant, orderOf, type Register } from './statement.ts';

const heartbeatOf = (agentId: string, order: string, host: string): Register => ({
  kind: 'register',
  table: 'runtimes',
  key: { runtime_id: agentId },
  group: 'runtime',
  order,
  columns: { host, capacity: 1, agents: [], labels: {}, announced_at: null },
});

const rowsOf = (statements: readonly Register[]) => JSON.parse(inserts(statements)[0]?.json ?? '[]');

test('only the newest of several writes of one column group in a batch is applied, in any order', () => {
  const older = heartbeatOf('r', '1', 'old');
  const newer = heartbeatOf('r', '2', 'new');
  expect(rowsOf([older, newer])).toEqual(rowsOf([newer, older, older]));
  expect(rowsOf([newer, older])).toMatchObject([{ host: 'new' }]);
});

test('rows are written in the order of their keys, so that two writers cannot wait for each other', () => {
  expect(
    rowsOf([heartbeatOf('b', '1', ''), heartbeatOf('a', '1', '')]).map((r: { runtime_id: string }) => r.runtime_id),
  ).toEqual(['a', 'b']);
});

test('a writer of several groups of a table first locks the rows of all groups, in one order', () => {
  const hold = { group: 'hold', columns: { held: true, held_until: null, held_by: 'ada', held_why: '' } } as const;
  const output = { group: 'output', columns: { output_last_at: null, output_tail: [] } } as const;
  const of = (agent_id: string, values: typeof hold | typeof output): Register =>
    ({ kind: 'register', table: 'agents', key: { agent_id }, order: '1', ...values }) as Register;
  const rows = (statements: readonly Register[]) =>
    inserts(statements).map(({ json }) => JSON.parse(json).map((row: { agent_id: string }) => row.agent_id));
  expect(rows([of('c', hold), of('a', hold), of('b', output)])).toEqual([['a', 'b', 'c'], ['a', 'c'], ['b']]);
  expect(inserts([of('a', hold), of('b', output)])[0]).toMatchObject({
    text: expect.stringContaining('WHERE false'),
    json: '[{"agent_id":"a"},{"agent_id":"b"}]',
  });
  expect(rows([of('b', hold), of('a', hold)])).toEqual([['a', 'b']]);
});

test('characters that Postgres cannot store are replaced, and nothing else', () => {
  expect(clean({ 'a\0': ['x\0y', '\uD800', 'é', 1, null] })).toEqual({
    'a\uFFFD': ['x\uFFFDy', '\uFFFD', 'é', 1, null],
  });
  expect(clean(Buffer.from([0, 255]))).toBe('\\x00ff');
});

test('a row with characters that Postgres cannot store is written without them; text that only looks so stays', () => {
  const written = (text: string) => rowsOf([heartbeatOf('r', '1', text)])[0].host;
  expect(['x\0y', '\uD800', '\uDFFFz'].map(written)).toEqual(['x\uFFFDy', '\uFFFD', '\uFFFDz']);
  const kept = ['\u{1F600}', String.raw`\u0000`, String.raw`\ud800`, '{"type":"Buffer"}'];
  expect(kept.map(written)).toEqual(kept);
});

test('bytes of a row are written as Postgres reads them', () => {
  const row = { ...heartbeatOf('r', '1', ''), columns: { original_value: Buffer.from([0, 255]) } };
  expect(rowsOf([row])).toMatchObject([{ original_value: '\\x00ff' }]);
});

test('each column is read with its own type', () => {
  const text = inserts([heartbeatOf('r', '1', '')])[0]?.text;
  expect(text).toContain(
    '("runtime_id" text, "runtime_order" text, "host" text, "capacity" integer, "agents" jsonb, "labels" jsonb, "announced_at" timestamptz)',
  );
});

test('versions order the events of a decider, and a new epoch follows all versions of the previous one', () => {
  const at = (epoch: number, version: number) => orderOf({ epoch, version, offset: 5 });
  expect(at(1, 9) < at(1, 10)).toBe(true);
  expect(at(1, 10) < at(2, 1)).toBe(true);
});

test('without versions the log orders', () => {
  const at = (offset: number) => orderOf({ epoch: null, version: null, offset });
  expect(at(9) < at(10)).toBe(true);
  expect(at(10) < at(9)).toBe(false);
});

test('an instant outside the calendar is unknown', () => {
  expect([null, -1, Number.NaN, 1e18].map(instant)).toEqual([null, null, null, null]);
  expect(instant(0)).toBe('1970-01-01T00:00:00.000Z');
  expect(instant(253_402_300_799_999)).toBe('9999-12-31T23:59:59.999Z');
});

test('an instant has the same text however many others came before it', () => {
  const moments = Array.from({ length: 3000 }, (_, n) => [n, n + 1, n]).flat();
  const texts = moments.map((ms) => new Date(ms).toISOString());
  expect([moments.map(instant), moments.map(instant)]).toEqual([texts, texts]);
});

test('the ids of changed rows are notified once each, in notices that Postgres accepts', () => {
  const many = Array.from({ length: 300 }, (_, i) => heartbeatOf(`runtime-${'x'.repeat(60)}-${i}`, '1', ''));
  const texts = notices([...many, ...many]);
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.every((text) => Buffer.byteLength(text) < 8000)).toBe(true);
  expect(texts.flatMap((text) => JSON.parse(text))).toHaveLength(300);
});

test.each([
  ['22P05', true],
  ['23505', true],
  ['54000', true],
  ['40001', false],
  ['57P01', false],
  ['ECONNRESET', false],
])('what Postgres answers with %s is the values\u2019 fault: %j', (code, is) => {
  expect(isDataError(Object.assign(new Error(), { code }))).toBe(is);
});
