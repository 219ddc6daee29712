import { expect, test } from 'vitest';
import { MemoryLog } from '../memory/memory-log.ts';
import { jsonCodec } from '../runner/processors.fixture.ts';
import { aliased } from '../runner/runner.fixture.ts';
import { readAndFollow } from './read-on.ts';

const TOPIC = 'said';
const world = () => {
  const log = new MemoryLog({ topics: { [TOPIC]: 1 }, codec: jsonCodec() });
  const say = (n: number, text?: string) =>
    log.sayRaw(TOPIC, 'k', Buffer.from(text ?? JSON.stringify({ type: 'SAID', payload: { n } })));
  const told: number[] = [];
  const unread: number[] = [];
  const stop = new AbortController();
  const options = {
    onEvent: async ({ payload }: { payload: object }) => {
      const { n } = payload as { n: number };
      if (n < 0) throw new Error('enough');
      await Promise.resolve();
      told.push(n);
    },
    onUnreadable: (_: Error, { offset }: { offset: number }) => unread.push(offset),
    signal: stop.signal,
  };
  return { log, say, told, unread, stop, begin: () => readAndFollow(log, TOPIC as never, options as never) };
};
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('what was there is told before it resolves, what comes later afterwards, each once and in order', async () => {
  const { say, told, begin } = world();
  say(1);
  say(2);
  const beginning = begin();
  say(3);
  await beginning;
  expect(told.slice(0, 2)).toEqual([1, 2]);
  say(4);
  await settled();
  expect(told).toEqual([1, 2, 3, 4]);
});

test('what lies behind an unfinished transaction holds up nothing: it is told when it is committed', async () => {
  const { log, say, told, stop } = world();
  say(1);
  say(2);
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
  const onEvent = ({ payload }: { payload: object }) => void told.push((payload as { n: number }).n);
  await readAndFollow(hiding, TOPIC as never, { onEvent, onUnreadable: () => {}, signal: stop.signal } as never);
  expect(told).toEqual([1]);
  open.resolve();
  await settled();
  expect(told).toEqual([1, 2]);
});

test('what cannot be read is passed over and named; after its signal nothing is told', async () => {
  const { say, told, unread, stop, begin } = world();
  say(0, 'garbage');
  say(1);
  await begin();
  stop.abort();
  say(2);
  await settled();
  expect([told, unread]).toEqual([[1], [0]]);
});

test('what the listener throws ends it', async () => {
  const { say, begin } = world();
  const { finished } = await begin();
  say(-1);
  await expect(finished).rejects.toThrow('enough');
});
