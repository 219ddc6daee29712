import { RegistryTrouble, Topic, UnknownSchemaId } from '@vigil/events';
import { example } from '@vigil/events/examples';
import type { Log } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openFeed } from './feed.ts';

/** Longer than a record may wait for its schema, milliseconds. */
const LONG_MS = 6000;

const clock = { ahead: 0 };
beforeEach(() => {
  clock.ahead = 0;
  const real = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => real() + clock.ahead);
});
afterEach(() => void vi.restoreAllMocks());

/** A log whose records have a schema that only the registry has, and whose client can hang. */
const opened = async () => {
  const memory = new MemoryLog();
  const registry = { isAway: false, isLearnt: false };
  const client = { hangs: false };
  const codec: Log['codec'] = {
    ...memory.codec,
    decode: (topic, value) => {
      if (!registry.isLearnt) throw new UnknownSchemaId(7);
      return memory.codec.decode(topic, value);
    },
    learn: async () => {
      if (registry.isAway) throw new RegistryTrouble('the registry is away');
      registry.isLearnt = true;
    },
  };
  const follow: Log['follow'] = async (topics, from, onRecord, signal) => {
    const { ready } = await memory.follow(topics, from, onRecord, signal);
    return { ready: () => ready() && !client.hangs };
  };
  const log: Log = Object.assign(Object.create(memory), { codec, follow });
  const stop = new AbortController();
  const onFailure = vi.fn();
  return { memory, registry, client, stop, onFailure, feed: await openFeed(log, stop.signal, onFailure) };
};

test('the feed is not ready while the registry stays away, and then gives what waited', async () => {
  const { memory, registry, stop, feed } = await opened();
  const received: string[] = [];
  feed.listen(({ type }) => received.push(type), false);
  registry.isAway = true;
  await memory.publish(example(Topic.agentHealth, 'HEALTH_STATE_CHANGED'));
  // The first record of a schema waits for one answer of the registry: no feed is behind by that.
  expect(feed.ready()).toBe(true);
  clock.ahead += LONG_MS;
  await vi.waitFor(() => expect(feed.ready()).toBe(false), 60_000);
  registry.isAway = false;
  await vi.waitFor(() => expect([feed.ready(), received]).toEqual([true, ['HEALTH_STATE_CHANGED']]), 60_000);
  stop.abort();
});

test('the feed is not ready while its client hangs', async () => {
  const { client, stop, feed } = await opened();
  expect(feed.ready()).toBe(true);
  client.hangs = true;
  expect(feed.ready()).toBe(false);
  client.hangs = false;
  expect(feed.ready()).toBe(true);
  stop.abort();
});

test('a listener whose observations cannot be read counts until it has left', async () => {
  const { memory, registry, stop, feed } = await opened();
  const { stop: leave } = feed.listen(() => {}, true);
  registry.isAway = true;
  await vi.waitFor(async () => {
    await memory.publish(example(Topic.agentObservation, 'AGENT_HEARTBEAT'));
    clock.ahead += LONG_MS;
    expect(feed.ready()).toBe(false);
  }, 60_000);
  leave();
  expect(feed.ready()).toBe(true);
  stop.abort();
});
