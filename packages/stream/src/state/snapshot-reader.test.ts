import { expect, test } from 'vitest';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import type { AtRest } from './at-rest.ts';
import { readSnapshot } from './snapshot-reader.ts';
import { Store } from './store.ts';

const TOPIC = 'onex.snapshot.judge.state.v1';
const shaped = (oldest: number): AtRest<unknown> => ({ oldest, upgrades: [], usual: null });
const judge = { processor: 'judge', atRest: shaped(2), timeTopic: 'in' };
const at = (now: number) =>
  Buffer.from(
    JSON.stringify({ next: 1, clock: { now, own: { tick: 0, unwatched: 0, from: 0 }, ingresses: {}, ticks: {} } }),
  );

const bytesOf = (state: unknown, shape = 2): Buffer => {
  const store = new Store<unknown>(shaped(shape));
  store.put('a', { state, dueAt: 0, version: 1, epoch: 1, lastInputAt: 1, correlationId: 'c' });
  return store.bytes('a') as Buffer;
};

const look = (records: readonly (readonly [string, Buffer | null])[], signal = new AbortController().signal) => {
  const log = new MemoryLog({ topics: { [TOPIC]: 1 } });
  log.append(records.map(([key, value]) => ({ topic: TOPIC, partition: 0, key, value })));
  return readSnapshot(log, judge, 'a', signal);
};

test('the newest state of a key comes with the newest time of its partition', async () => {
  const found = await look([
    ['a', bytesOf('old')],
    ['@position/in', at(5)],
    ['a', bytesOf('new')],
    ['b', bytesOf('other')],
    ['@position/in', at(9)],
  ]);
  expect(found).toMatchObject({ state: 'new', clock: { now: 9 } });
});

test('a state far from the end is found too', async () => {
  const rest = Array.from({ length: 60_000 }, () => ['@position/in', at(7)] as const);
  expect(await look([['a', bytesOf('quiet')], ...rest])).toMatchObject({ state: 'quiet', clock: { now: 7 } });
});

test('a search reads no record twice, and none before its last part', async () => {
  const rest = Array.from({ length: 3000 }, () => ['@position/in', at(7)] as const);
  const log = new MemoryLog({ topics: { [TOPIC]: 1 } });
  const records = [...rest, ...rest, ['a', bytesOf('quiet')] as const, ...rest];
  log.append(records.map(([key, value]) => ({ topic: TOPIC, partition: 0, key, value })));
  const ranges: string[] = [];
  const read: typeof log.read = (topic, partition, range, apply) => {
    ranges.push(`${range.low}-${range.high}`);
    return log.read(topic, partition, range, apply);
  };
  const from = { bounds: log.bounds, read };
  expect(await readSnapshot(from, judge, 'a', new AbortController().signal)).toMatchObject({ state: 'quiet' });
  expect(ranges).toEqual(['8501-9001', '4001-8501']);
});

test('the result is null for a forgotten key, an unknown key, a state of another shape, and a search that takes too long', async () => {
  const position = ['@position/in', at(5)] as const;
  expect(await look([['a', bytesOf('x')], ['a', null], position])).toBeNull();
  expect(await look([position])).toBeNull();
  expect(await look([])).toBeNull();
  for (const shape of [1, 3]) expect(await look([['a', bytesOf('x', shape)], position])).toBeNull();
  expect(await look([['a', bytesOf('x')], position], AbortSignal.abort())).toBeNull();
});
