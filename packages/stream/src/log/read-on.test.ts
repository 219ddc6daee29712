import { expect, test } from 'vitest';
import { jsonCodec } from '../runner/processors.fixture.ts';
import { aliased } from '../runner/runner.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { readAndFollow } from './reading.ts';

const TOPIC = 'emitted';
const setup = () => {
  const log = new MemoryLog({ topics: { [TOPIC]: 1 }, codec: jsonCodec() });
  const publish = (n: number, text?: string) =>
    log.publishRaw(TOPIC, 'k', Buffer.from(text ?? JSON.stringify({ type: 'EMITTED', payload: { n } })));
  const received: number[] = [];
  const unread: number[] = [];
  const stop = new AbortController();
  const options = {
    onEvent: async ({ payload }: { payload: object }) => {
      const { n } = payload as { n: number };
      if (n < 0) throw new Error('enough');
      await Promise.resolve();
      received.push(n);
    },
    onUnreadable: (_: Error, { offset }: { offset: number }) => unread.push(offset),
    signal: stop.signal,
  };
  return { log, publish, received, unread, stop, begin: () => readAndFollow(log, TOPIC as never, options as never) };
};
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('present records are received before it resolves, later ones afterwards, each once and in order', async () => {
  const { publish, received, begin } = setup();
  publish(1);
  publish(2);
  const beginning = begin();
  publish(3);
  await beginning;
  expect(received.slice(0, 2)).toEqual([1, 2]);
  publish(4);
  await settled();
  expect(received).toEqual([1, 2, 3, 4]);
});

test('an unfinished transaction delays no earlier record; the records after it are received when it is committed', async () => {
  const { log, publish, received, stop } = setup();
  publish(1);
  publish(2);
  const open = Promise.withResolvers<void>();
  const hiding = {
    ...aliased(log),
    stableEnds: async () => [1],
    follow: (...given: Parameters<typeof log.follow>) => {
      const [, , onRecord] = given;
      const [, hidden] = log.records(TOPIC);
      void open.promise.then(() => onRecord(hidden as never));
      return Promise.resolve({ ready: () => true });
    },
  };
  const onEvent = ({ payload }: { payload: object }) => void received.push((payload as { n: number }).n);
  await readAndFollow(hiding, TOPIC as never, { onEvent, onUnreadable: () => {}, signal: stop.signal } as never);
  expect(received).toEqual([1]);
  open.resolve();
  await settled();
  expect(received).toEqual([1, 2]);
});

test('an unreadable record is skipped and reported; after the signal no record is received', async () => {
  const { publish, received, unread, stop, begin } = setup();
  publish(0, 'garbage');
  publish(1);
  await begin();
  stop.abort();
  publish(2);
  await settled();
  expect([received, unread]).toEqual([[1], [0]]);
});

test('an error of the listener ends it', async () => {
  const { publish, begin } = setup();
  const { finished } = await begin();
  publish(-1);
  await expect(finished).rejects.toThrow('enough');
});
