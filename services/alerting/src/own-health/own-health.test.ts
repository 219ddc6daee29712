import type { Log } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { afterEach, expect, test, vi } from 'vitest';
import type { Notify } from '../notices/notice.ts';
import { answeringWith, receiver } from '../sinks/sinks.fixture.ts';
import { watchOwnHealth } from './own-health.ts';
import { ping } from './ping.ts';
import { FOLLOWED } from './upstreams.ts';

const PARTITIONS = 1;
let stop = new AbortController();
afterEach(() => {
  vi.useRealTimers();
  stop.abort();
  stop = new AbortController();
});

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** The watch over a log in memory; `pass` lets time pass in seconds, with a tick of each topic unless it stands. */
const watching = async (deadmanUrl: string | null, probes: readonly (readonly [string, string])[] = []) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  const memory = new MemoryLog({ partitions: PARTITIONS });
  let read = 0;
  const follow: Log['follow'] = (topics, from, onRecord, signal) =>
    memory.follow(
      topics,
      from,
      (record) => {
        onRecord(record);
        read += 1;
      },
      signal,
    );
  const log = new Proxy(memory, { get: (it, name) => (name === 'follow' ? follow : Reflect.get(it, name).bind(it)) });
  const notices: Notify[] = [];
  let written = 0;
  const health = await watchOwnHealth(log, {
    ...{ now: Date.now, logger: quiet, signal: stop.signal, probes, deadmanUrl },
    write: async (drafts) => void notices.push(...drafts),
  });
  const pass = async (seconds: number, standing: readonly string[] = []) => {
    for (let s = 0; s < seconds; s += 5) {
      const timestamp = Date.now();
      const topics = FOLLOWED.filter((topic) => !standing.includes(topic));
      memory.append(topics.map((topic) => ({ topic, partition: 0, key: '@tick/0', value: null, timestamp })));
      written += topics.length;
      await vi.waitFor(() => expect(read).toBeGreaterThanOrEqual(written), 30_000);
      await vi.advanceTimersByTimeAsync(5000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const raised = () => notices.filter(({ payload }) => payload.action === 'raise').map(({ key }) => key);
  return { health, pass, raised, notices };
};

test.each([
  ['onex.evt.intervention.agent-intervention.v1', false],
  ['onex.evt.recovery.task-recovery.v1', true],
])('pings arrive while time flows, and stop with the time of any service: %s', async (topic, isCurrent) => {
  await using outside = await answeringWith(200, {});
  const { pass, health } = await watching(`${outside.url}/ping/hunter2`);
  await pass(95);
  await vi.waitFor(() => expect(outside.received.length).toBeGreaterThanOrEqual(2), 30_000);
  expect(health.timeFlows()).toBe(true);
  await pass(60, [topic]);
  expect(health.timeFlows()).toBe(isCurrent);
  await pass(30, [topic]);
  const pings = outside.received.length;
  await pass(120, [topic]);
  expect(outside.received).toHaveLength(pings);
  await pass(65);
  await vi.waitFor(() => expect(outside.received.length).toBeGreaterThan(pings), 30_000);
});

test('pings stop once a service without a time has not answered for the grace, and continue when it answers again', async () => {
  await using outside = await answeringWith(200, {});
  let isAway = false;
  await using projector = await receiver((_, response) => response.writeHead(isAway ? 503 : 200).end());
  const { pass, health } = await watching(`${outside.url}/ping/hunter2`, [['projector', projector.url]]);
  await pass(65);
  await vi.waitFor(() => expect(outside.received.length).toBeGreaterThanOrEqual(2), 30_000);
  isAway = true;
  const before = outside.received.length;
  await pass(50);
  await vi.waitFor(() => expect(outside.received.length).toBeGreaterThan(before), 30_000);
  await pass(40);
  const pings = outside.received.length;
  await pass(120);
  expect(outside.received).toHaveLength(pings);
  // Alerts that it has delivered are current all the same.
  expect(health.timeFlows()).toBe(true);
  isAway = false;
  await pass(65);
  await vi.waitFor(() => expect(outside.received.length).toBeGreaterThan(pings), 30_000);
});

test('a service whose time stands is one alert, which is over when its time flows again', async () => {
  const { pass, raised, notices } = await watching(null);
  await pass(30);
  await vi.waitFor(async () => {
    await pass(10, ['onex.evt.recovery.task-recovery.v1']);
    expect(raised()).toEqual(['service_standing:fleet:recovery']);
  }, 30_000);
  await vi.waitFor(async () => {
    await pass(10);
    expect(notices.at(-1)).toMatchObject({ key: 'service_standing:fleet:recovery', payload: { action: 'resolve' } });
  }, 30_000);
  expect(raised()).toHaveLength(1);
});

test('a service that does not answer its probe, or is not ready, is an alert with the reason', async () => {
  await using unready = await receiver((_, response) => response.writeHead(503).end('restoring 3 partitions'));
  const probes = [
    ['gateway', 'http://127.0.0.1:1'],
    ['projector', unready.url],
  ] as const;
  const { pass, raised, notices, health } = await watching(null, probes);
  const begun = Date.now();
  await vi.waitFor(async () => {
    await pass(10);
    expect(raised().toSorted()).toEqual(['service_standing:fleet:gateway', 'service_standing:fleet:projector']);
  }, 30_000);
  const { gateway = 0, ...others } = health.away();
  expect(Object.keys(others)).toEqual(['projector']);
  // From the first look on, and not from the alert.
  expect(gateway - begun).toBeLessThan(30_000);
  const texts = notices.map(({ payload }) => payload.text).join();
  expect(texts).toContain('127.0.0.1:1 does not answer');
  expect(texts).toContain('it is not ready: status 503: restoring 3 partitions');
});

test('a ping that fails names the host alone, because the path is a secret', async () => {
  await using gone = await answeringWith(404, {});
  const failure = async (url: string) => String(await ping(url).catch((error: unknown) => error));
  expect(await failure(`${gone.url}/hunter2`)).toMatch(/is answered with 404: correct VIGIL_DEADMAN_URL/);
  for (const url of [`${gone.url}/hunter2`, 'http://127.0.0.1:1/hunter2'])
    expect(await failure(url)).not.toContain('hunter2');
});
