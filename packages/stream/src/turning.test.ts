import type { Draft, HealthEvent } from '@vigil/events';
import { expect, test } from 'vitest';
import { type Decider, NEVER } from './decider.ts';
import { jsonCodec, listening, surroundings, topicsOf } from './fixture.ts';
import { MemoryLog } from './memory-log.ts';
import type { AnyRules } from './processor.ts';
import { Slot } from './slot.ts';

const NOW = 1_795_305_600_000;
const OUT = 'run.out';
type State = { readonly key: string; readonly since: number; readonly said: boolean };

/** Says once that a key has been known for `limit` milliseconds, and by which rules. */
const rulesOf = (value: string, limit: number): AnyRules => {
  const decider: Decider<State, HealthEvent, Draft> = {
    initial: { key: '', since: 0, said: false },
    observe: (state, { key }, { now }) => (state.key === '' ? { key, since: now, said: false } : state),
    decide: ({ key, since, said }, { now }) =>
      said || key === '' || now < since + limit
        ? []
        : [{ topic: OUT, type: 'OLD', key, payload: { by: value } } as unknown as Draft],
    evolve: (state) => ({ ...state, said: true }),
    dueAt: ({ key, since, said }) => (key === '' || said ? NEVER : since + limit),
  };
  return { value, decider: decider as AnyRules['decider'] };
};

/** A partition whose rules can be changed; each batch is one record: a beat of a key, or a tick. */
const world = async (
  first: AnyRules,
  log = new MemoryLog({ topics: topicsOf('run', 1), codec: jsonCodec(), now: () => 0 }),
) => {
  let inForce = first;
  const marker = { topic: OUT as never, key: '@policy' as const, rules: () => inForce };
  const slot = new Slot(log, listening('run', { marker, ticks: [], decider: first.decider }), surroundings());
  await slot.open();
  const give = async (ms: number, key: string | null) => {
    const value = key === null ? null : Buffer.from(JSON.stringify({ type: 'BEAT', payload: {} }));
    log.append([{ topic: 'run.in', partition: 0, key: key ?? '@tick/0', value, timestamp: NOW + ms }]);
    const offset = log.records('run.in').length - 1;
    const records = log.records('run.in').slice(offset);
    await slot.take({ topic: 'run.in', partition: 0, fetched: offset, next: offset + 1, end: offset + 1, records });
  };
  const said = () =>
    log.records(OUT).map(({ key, value }) => {
      const read = JSON.parse(String(value));
      return key === '@policy' ? `${read.rules} from ${read.from['run.in']}` : `${key} old by ${read.payload.by}`;
    });
  return { log, slot, give, said, turn: (to: AnyRules) => (inForce = to) };
};

const LATE = rulesOf('late', 60_000);
const SOON = rulesOf('soon', 5_000);

test('new rules begin between two batches: their marker names the position, and what follows is decided by them', async () => {
  const w = await world(LATE);
  await w.give(0, 'a');
  w.turn(SOON);
  await w.give(6000, 'a');
  expect(w.said()).toEqual(['late from 0', 'soon from 1', 'a old by soon']);
});

test('a key that nobody speaks of falls due by the new rules, not by those under which it was last looked at', async () => {
  const w = await world(LATE);
  await w.give(0, 'a');
  w.turn(SOON);
  await w.give(1000, null);
  await w.give(4000, null);
  expect(w.said()).toEqual(['late from 0', 'soon from 1']);
  await w.give(5000, null);
  expect(w.said()).toEqual(['late from 0', 'soon from 1', 'a old by soon']);
});

test('whoever opens the partition later knows the deadlines of the new rules', async () => {
  const w = await world(LATE);
  await w.give(0, 'a');
  w.turn(SOON);
  await w.give(1000, null);
  const again = await world(SOON, w.log);
  await again.give(5000, null);
  expect(again.said().at(-1)).toBe('a old by soon');
});

test('rules that changed while nobody had the partition count from its opening', async () => {
  const w = await world(LATE);
  await w.give(0, 'a');
  const again = await world(SOON, w.log);
  await again.give(6000, null);
  expect(again.said()).toEqual(['late from 0', 'soon from 1', 'a old by soon']);
});

test('rules that stay are marked once an opening, and no state is looked at for them', async () => {
  const w = await world(LATE);
  await w.give(0, 'a');
  await w.give(1000, null);
  expect(w.said()).toEqual(['late from 0']);
  const looked: unknown[] = [];
  const dueAt: Decider<unknown, HealthEvent, Draft>['dueAt'] = (state, clock) => {
    looked.push(state);
    return LATE.decider.dueAt(state, clock);
  };
  const counted: AnyRules = { value: 'late', decider: { ...LATE.decider, dueAt } };
  const again = await world(counted, w.log);
  await again.give(2000, null);
  expect(looked).toEqual([]);
  expect(again.said()).toEqual(['late from 0', 'late from 2']);
});
