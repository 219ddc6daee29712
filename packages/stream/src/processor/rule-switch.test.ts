import type { Draft, HealthEvent } from '@vigil/events';
import { expect, test } from 'vitest';
import { dependencies, jsonCodec, listening, topicsOf, writerOn } from '../runner/processors.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { type Decider, NEVER } from './decider.ts';
import { PartitionTask } from './partition-task.ts';
import type { AnyRules } from './topology.ts';

const NOW = 1_795_305_600_000;
const OUT = 'run.out';
type State = { readonly key: string; readonly since: number; readonly isReported: boolean };

/** Reports once that a key has been known for `limit` milliseconds, and by which rules. */
const rulesOf = (value: string, limit: number): AnyRules => {
  const decider: Decider<State, HealthEvent, Draft> = {
    initial: { key: '', since: 0, isReported: false },
    observe: (state, { key }, { now }) => (state.key === '' ? { key, since: now, isReported: false } : state),
    decide: ({ key, since, isReported }, { now }) =>
      isReported || key === '' || now < since + limit
        ? []
        : [{ topic: OUT, type: 'OLD', key, payload: { by: value } } as unknown as Draft],
    evolve: (state) => ({ ...state, isReported: true }),
    dueAt: ({ key, since, isReported }) => (key === '' || isReported ? NEVER : since + limit),
  };
  return { value, decider: decider as AnyRules['decider'] };
};

/** A partition whose rules can be changed; each batch is one record: a heartbeat of a key, or a tick. */
const setup = async (
  first: AnyRules,
  log = new MemoryLog({ topics: topicsOf('run', 1), codec: jsonCodec(), now: () => 0 }),
  { version = '1', isMarked = true } = {},
) => {
  let inForce = first;
  const marker = { topic: OUT as never, key: '@policy' as const, rules: () => inForce };
  const processor = listening('run', { ticks: [], decider: first.decider, ...(isMarked ? { marker } : {}) });
  const task = new PartitionTask(log, processor, dependencies({ version }));
  await task.open(writerOn(log));
  let storedBefore = 0;
  const giveAll = async (ms: number, keys: readonly (string | null)[]) => {
    const fetched = task.positions.get('run.in') as number;
    const heartbeat = Buffer.from(JSON.stringify({ type: 'HEARTBEAT', payload: {} }));
    const recordOf = (key: string | null) => ({ key: key ?? '@tick/0', value: key === null ? null : heartbeat });
    log.append(keys.map((key) => ({ topic: 'run.in', partition: 0, timestamp: NOW + ms, ...recordOf(key) })));
    const records = log.records('run.in').slice(fetched);
    const end = fetched + records.length;
    storedBefore = log.records('onex.snapshot.run.state.v1').length;
    await task.take({ topic: 'run.in', partition: 0, fetched, next: end, end, records });
  };
  const give = (ms: number, key: string | null) => giveAll(ms, [key]);
  /** The content of the last transaction: the number of states, and the basis of their deadlines. */
  const stored = () => {
    const written = log.records('onex.snapshot.run.state.v1').slice(storedBefore);
    const states = written.filter(({ key }) => !key?.startsWith('@')).length;
    const rules = written.filter(({ key }) => key === '@rules').map(({ value }) => value?.toString() ?? null);
    return { states, rules };
  };
  const emitted = () =>
    log.records(OUT).map(({ key, value }) => {
      const read = JSON.parse(String(value));
      return key === '@policy' ? `${read.rules} from ${read.from['run.in']}` : `${key} old by ${read.payload.by}`;
    });
  return { log, task, give, giveAll, stored, emitted, turn: (to: AnyRules) => (inForce = to) };
};

const LATE = rulesOf('late', 60_000);
const SOON = rulesOf('soon', 5_000);

test('new rules begin between two batches: their marker names the position, and later records are decided by them', async () => {
  const w = await setup(LATE);
  await w.give(0, 'a');
  w.turn(SOON);
  await w.give(6000, 'a');
  expect(w.emitted()).toEqual(['late from 0', 'soon from 1', 'a old by soon']);
});

test('a key without new records is due by the new rules, not by the previous ones', async () => {
  const w = await setup(LATE);
  await w.give(0, 'a');
  w.turn(SOON);
  await w.give(1000, null);
  await w.give(4000, null);
  expect(w.emitted()).toEqual(['late from 0', 'soon from 1']);
  await w.give(5000, null);
  expect(w.emitted()).toEqual(['late from 0', 'soon from 1', 'a old by soon']);
});

test('a later owner of the partition has the deadlines of the new rules', async () => {
  const w = await setup(LATE);
  await w.give(0, 'a');
  w.turn(SOON);
  await w.give(1000, null);
  const again = await setup(SOON, w.log);
  await again.give(5000, null);
  expect(again.emitted().at(-1)).toBe('a old by soon');
});

test('rules that changed while no member had the partition apply from its opening', async () => {
  const w = await setup(LATE);
  await w.give(0, 'a');
  const again = await setup(SOON, w.log);
  await again.give(6000, null);
  expect(again.emitted()).toEqual(['late from 0', 'soon from 1', 'a old by soon']);
});

test('unchanged rules are marked once for each opening, and no state is read for them', async () => {
  const w = await setup(LATE);
  await w.give(0, 'a');
  await w.give(1000, null);
  expect(w.emitted()).toEqual(['late from 0']);
  const looked: unknown[] = [];
  const dueAt: Decider<unknown, HealthEvent, Draft>['dueAt'] = (state, clock) => {
    looked.push(state);
    return LATE.decider.dueAt(state, clock);
  };
  const counted: AnyRules = { value: 'late', decider: { ...LATE.decider, dueAt } };
  await w.task.writePositions();
  const again = await setup(counted, w.log);
  await again.give(2000, null);
  expect(looked).toEqual([]);
  expect(again.emitted()).toEqual(['late from 0', 'late from 2']);
});

const SLICE = 10_000;
const many = (count: number) => Array.from({ length: count }, (_, n) => `k${n}`);
const lies = (rules: string | null, version = '1') => JSON.stringify({ version, rules });

test('a change of rules is computed for 10,000 keys a transaction, applies to records in the meantime, and is named in the snapshot at the end', async () => {
  const w = await setup(LATE);
  await w.giveAll(0, many(2 * SLICE + 1));
  expect(w.stored().rules).toEqual([lies('late')]);
  w.turn(SOON);
  await w.give(1000, null);
  expect(w.stored()).toEqual({ states: SLICE, rules: [null] });
  await w.give(1000, 'new');
  expect(w.stored()).toEqual({ states: SLICE + 1, rules: [] });
  await w.give(2000, null);
  expect(w.stored()).toEqual({ states: 1, rules: [lies('soon')] });
  await w.give(3000, null);
  expect(w.stored()).toEqual({ states: 0, rules: [] });
  await w.give(5000, null);
  expect(w.emitted().filter((line) => line.endsWith('old by soon'))).toHaveLength(2 * SLICE + 1);
  await w.give(6000, null);
  expect(w.emitted().at(-1)).toBe('new old by soon');
});

test('exactly 10,000 keys are one transaction', async () => {
  const w = await setup(LATE);
  await w.giveAll(0, many(SLICE));
  w.turn(SOON);
  await w.give(1000, null);
  expect(w.stored()).toEqual({ states: SLICE, rules: [lies('soon')] });
});

test('a process that opens the partition in the middle of a change computes all keys again', async () => {
  const w = await setup(LATE);
  await w.giveAll(0, many(SLICE + 1));
  w.turn(SOON);
  await w.give(1000, null);
  const again = await setup(SOON, w.log);
  for (const ms of [2000, 3000, 5000]) await again.give(ms, null);
  expect(again.emitted().filter((line) => line.endsWith('old by soon'))).toHaveLength(SLICE + 1);
});

test('rules that return in the middle of a change leave no deadline of the other rules, in this process or the next', async () => {
  for (const isRestarted of [false, true]) {
    const w = await setup(SOON);
    await w.giveAll(0, many(SLICE + 1));
    w.turn(LATE);
    await w.give(100, 'new');
    w.turn(SOON);
    const after = isRestarted ? await setup(SOON, w.log) : w;
    for (const ms of [200, 300, 5200]) await after.give(ms, null);
    expect(after.emitted()).toContain('new old by soon');
  }
});

test('a key that is forgotten before its slice is skipped', async () => {
  const w = await setup(rulesOf('late', 20_000));
  await w.giveAll(0, many(SLICE + 1));
  w.turn({
    ...SOON,
    decider: { ...SOON.decider, forgets: ({ isReported }: State) => isReported } as AnyRules['decider'],
  });
  await w.give(21_000, null);
  expect(w.task.size).toBe(0);
  await w.give(22_000, null);
  expect(w.stored().rules).toEqual([lies('soon')]);
});

test('another version of the code computes the deadlines again, with or without rules that may change', async () => {
  for (const isMarked of [true, false]) {
    const older = await setup(LATE, undefined, { isMarked });
    await older.give(0, 'a');
    expect(older.stored().rules).toEqual([lies(isMarked ? 'late' : null)]);
    const same = await setup({ ...SOON, value: 'late' }, older.log, { isMarked });
    await same.give(5000, null);
    expect(same.emitted().filter((line) => line.startsWith('a old'))).toEqual([]);
    const newer = await setup({ ...SOON, value: 'late' }, older.log, { isMarked, version: '2' });
    await newer.give(5000, null);
    expect(newer.stored().rules).toEqual([lies(isMarked ? 'late' : null, '2')]);
    expect(newer.emitted().filter((line) => line.startsWith('a old'))).toHaveLength(1);
  }
});

test('deadlines of a snapshot without a stored version are computed again', async () => {
  const older = await setup(LATE);
  await older.give(0, 'a');
  const snapshot = 'onex.snapshot.run.state.v1';
  older.log.append([{ topic: snapshot, partition: 0, key: '@rules', value: Buffer.from('late') }]);
  const newer = await setup({ ...SOON, value: 'late' }, older.log);
  await newer.give(5000, null);
  expect(newer.emitted().filter((line) => line.startsWith('a old'))).toHaveLength(1);
});

test('when a clock is set back, all deadlines are computed again in the same way, also by the next process', async () => {
  const day = 86_400_000;
  const w = await setup(LATE);
  for (const ms of [0, day, day + 2000]) await w.give(ms, null);
  await w.giveAll(day + 2000, many(SLICE + 1));
  await w.give(5000, null);
  expect(w.stored().rules).toEqual([]);
  await w.give(7000, null);
  expect(w.stored().rules).toEqual([null]);
  await w.give(8000, null);
  expect(w.stored().rules).toEqual([lies('late')]);
});
