import { Topic } from '@vigil/events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LogRecord } from '../log/log.ts';
import { Fold, INGRESS, RELEASED, TICK } from '../processor/fold.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { PartitionTime } from './partition-time.ts';

const START = 1_795_305_600_000;
const { codec } = new MemoryLog();

/** The runner's own fold, which decides nothing. */
const runnersFold = () =>
  new Fold(
    {
      processor: 'time',
      service: 'health-evaluator',
      reads: [Topic.agentObservation],
      writes: [],
      time: { topic: Topic.agentObservation, sources: 'own' },
      ticks: [],
      map: () => [],
    },
    { codec, partition: 0, partitions: () => 1, sources: 1, count: () => undefined },
  );

const marks = fc.oneof(
  fc.constantFrom(`${TICK}0`, '@probe/a', 'agent', '@ingress/not an id').map((key) => ({ key, value: null })),
  fc.constantFrom('a', 'gateway:a', 'gateway:b').map((name) => ({ key: `${INGRESS}${name}`, value: null })),
  fc.constantFrom('a', 'gateway:a').map((name) => ({ key: `${INGRESS}${name}`, value: RELEASED })),
);
/** Steps of time forth and back, also by more than a minute. */
const steps = fc.constantFrom(0, 1, 400, 1000, 1000, 1000, 2500, 90_000, -500, -90_000);
const records = fc.array(fc.tuple(marks, steps), { maxLength: 60 }).map((drawn) => {
  let at = START;
  return drawn.map(([mark, step], offset): LogRecord => {
    at += step;
    return { ...mark, topic: Topic.agentObservation, partition: 0, offset, timestamp: at, headers: {} };
  });
});

test('the time of a partition is that of the runner after every record, also after it is stored', () => {
  fc.assert(
    fc.property(records, (some) => {
      const fold = runnersFold();
      let time = new PartitionTime(null);
      for (const record of some) {
        fold.apply(record);
        time.apply(record);
        expect(time.time).toEqual(fold.time);
        time = new PartitionTime(JSON.parse(JSON.stringify(time.stored)));
      }
    }),
  );
});

test('a key shows whether a record is a tick, another mark or an input', () => {
  const time = new PartitionTime(null);
  const kinds = [`${TICK}0`, `${INGRESS}a`, '@probe/a', 'agent', null].map((key) =>
    time.apply({ key, value: null, timestamp: START }),
  );
  expect(kinds).toEqual(['tick', 'mark', 'mark', 'input', 'input']);
});
