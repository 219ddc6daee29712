import { Topic } from '@vigil/events';
import type { ReadModel } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { examine } from './doctor.ts';

const model = {
  agents: async () => [
    { agentId: 'a', instanceId: 'i1', duplicateOf: null },
    { agentId: 'b', instanceId: 'i2', duplicateOf: 'i3', duplicateCount: 4, duplicateAt: 5 },
  ],
  fleet: async () => ({ halted: false }),
  positions: async () => [
    { topic: 't', partition: 0, offset: 7 },
    { topic: 't', partition: 1, offset: 12 },
  ],
} as unknown as ReadModel;

type Apply = (record: { timestamp: number }) => void;
const log = {
  bounds: async (topic: string) =>
    topic === 't'
      ? [
          { low: 0, high: 10 },
          { low: 0, high: 12 },
        ]
      : [
          { low: 3, high: 9 },
          { low: 0, high: 9 },
          { low: 4, high: 4 },
        ],
  read: async (_topic: string, partition: number, _range: object, apply: Apply) => {
    apply({ timestamp: partition === 0 ? 500 : 400 });
    apply({ timestamp: 9999 });
  },
} as never;

const seen = (topic: string): readonly number[] => (topic === Topic.agentHealth ? [9000, 8000] : []);
const report = () =>
  examine({ log, model, feed: { ticks: seen }, probes: [['x', 'http://127.0.0.1:9']], now: () => 10_000 });

test("a processor's time is as old as its slowest partition; what nobody has seen is unknown", async () => {
  const { time } = await report();
  expect(time).toContainEqual({ processor: 'health-evaluator', ageMs: 2000 });
  expect(time).toContainEqual({ processor: 'recovery', ageMs: null });
});

test('the lag of the projector is what its positions lack to the ends of its topics', async () => {
  expect((await report()).lag).toEqual([{ group: 'projector', records: 3 }]);
});

test('replay reaches back to where the last of the partitions begins, empty ones aside', async () => {
  expect((await report()).replayFrom).toBe(500);
});

test('two lives of one name are told', async () => {
  const told = { agentId: 'b', instanceId: 'i2', otherInstanceId: 'i3', count: 4, at: 5 };
  expect((await report()).duplicates).toEqual([told]);
});

test('a service that does not answer is not ready, and the address is named', async () => {
  expect((await report()).services).toMatchObject([{ service: 'x', ready: false }]);
  expect((await report()).services[0]?.said).toContain('http://127.0.0.1:9 does not answer');
});
