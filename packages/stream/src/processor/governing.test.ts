import type { Draft, HealthEvent } from '@vigil/events';
import { expect, test } from 'vitest';
import { dependencies, jsonCodec, listening, topicsOf, writerOn } from '../runner/processors.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { type Decider, NEVER } from './decider.ts';
import { PartitionTask } from './partition-task.ts';
import type { AnyDecider } from './topology.ts';

const NOW = 1_795_305_600_000;
const OUT = 'run.out';
const LIMIT = 10_000;
type State = { readonly key: string; readonly since: number; readonly isReported: boolean };

/** Reports each key after ten seconds, or after one second as soon as the key `hurry` exists. */
const ruleOf = (hurry: State | undefined): Decider<State, HealthEvent, Draft> => {
  const dueOf = ({ since }: State) => since + (hurry === undefined ? LIMIT : 1000);
  return {
    initial: { key: '', since: 0, isReported: false },
    observe: (state, { key }, { now }) => (state.key === '' ? { key, since: now, isReported: false } : state),
    decide: (state, { now }) =>
      state.isReported || now < dueOf(state)
        ? []
        : [{ topic: OUT, type: 'OLD', key: state.key, payload: {} } as unknown as Draft],
    evolve: (state) => ({ ...state, isReported: true }),
    dueAt: (state) => (state.isReported ? NEVER : dueOf(state)),
  };
};

const setup = async (log = new MemoryLog({ topics: topicsOf('run', 1), codec: jsonCodec(), now: () => 0 })) => {
  const governing = { key: 'hurry', ruleOf } as NonNullable<AnyDecider['governing']>;
  const decider = ruleOf(undefined) as AnyDecider['decider'];
  const task = new PartitionTask(log, listening('run', { ticks: [], decider, governing }), dependencies({}));
  await task.open(writerOn(log));
  /** A heartbeat of a key, or a tick. */
  const give = async (ms: number, key: string | null) => {
    const fetched = log.records('run.in').length;
    const value = key === null ? null : Buffer.from(JSON.stringify({ type: 'HEARTBEAT', payload: {} }));
    log.append([{ topic: 'run.in', partition: 0, timestamp: NOW + ms, key: key ?? '@tick/0', value }]);
    const records = log.records('run.in').slice(fetched);
    const end = fetched + records.length;
    await task.take({ topic: 'run.in', partition: 0, fetched, next: end, end, records });
  };
  return { log, give, reported: () => log.records(OUT).map(({ key }) => key), close: () => task.close() };
};

test('the state of the governing key sets the rule of all keys, and their deadlines follow it', async () => {
  const { give, reported } = await setup();
  await give(0, 'a');
  await give(2000, null);
  expect(reported()).toEqual([]);
  await give(3000, 'hurry');
  expect(reported()).toEqual([]);
  await give(3500, null);
  expect(reported()).toEqual(['a']);
});

test('without it the first rule applies', async () => {
  const { give, reported } = await setup();
  await give(0, 'a');
  await give(LIMIT - 1, null);
  expect(reported()).toEqual([]);
  await give(LIMIT, null);
  expect(reported()).toEqual(['a']);
});

test('a new process continues with the rule of the stored state', async () => {
  const first = await setup();
  await first.give(0, 'hurry');
  await first.close();
  const second = await setup(first.log);
  await second.give(100, 'a');
  await second.give(1099, null);
  expect(second.reported()).not.toContain('a');
  await second.give(1100, null);
  expect(second.reported()).toContain('a');
});
