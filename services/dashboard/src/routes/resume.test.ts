import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HealthEvent, Topic, topicNames } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { MemoryLog } from '@vigil/stream/memory';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { dashboard, TOKEN } from '../app.fixture.ts';
import { openFeed, publishedTopics } from '../feed.ts';
import { MOST_AT_ONCE, Positions, readBacklog } from './resume.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A dashboard that listens, over this log. */
const opened = async (log: MemoryLog) => {
  const stop = new AbortController();
  const feed = await openFeed(log, stop.signal, () => {});
  const { app, failures } = dashboard({}, '/no-page', { log, feed, signal: stop.signal });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const close = async () => {
    stop.abort();
    await app.close();
  };
  closing.push(close);
  return { port: (app.server.address() as AddressInfo).port, failures, close };
};

/** A reader of the stream: the agents of its events in order, and the id of the last one. It keeps both over connections, as a browser does. */
const openReader = () => {
  const received: string[] = [];
  let lastId = '';
  let response: IncomingMessage | null = null;
  let rest = '';
  const onText = (text: string) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks)
      for (const line of block.split('\n')) {
        if (line.startsWith('id: ')) lastId = line.slice(4);
        if (line.startsWith('data: '))
          received.push((JSON.parse(line.slice(6)) as { payload: { agentId: string } }).payload.agentId);
      }
  };
  return {
    received,
    id: () => lastId,
    connect: async (port: number, query = '') => {
      rest = '';
      const headers = {
        authorization: 'Bearer viewer',
        accept: 'text/event-stream',
        ...(lastId !== '' && { 'last-event-id': lastId }),
      };
      const before = lastId;
      const request = get({ port, host: '127.0.0.1', path: `/v1/events${query}`, headers });
      const [mine] = (await once(request, 'response')) as [IncomingMessage];
      response = mine;
      request.on('error', () => {});
      // What arrives after the cut has not been received.
      mine
        .on('error', () => {})
        .setEncoding('utf8')
        .on('data', (text) => response === mine && onText(text));
      // A first connection receives events from its first position on.
      if (before === '') await vi.waitFor(() => expect(lastId).not.toBe(''), 30_000);
    },
    cut: () => {
      const mine = response;
      response = null;
      mine?.destroy();
    },
  };
};

const changed = (agentId: string): HealthEvent =>
  example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId }) as HealthEvent;
const publish = async (log: MemoryLog, agents: readonly string[]) => {
  for (const agentId of agents) await log.publish({ ...changed(agentId), key: agentId } as never);
};
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

test('a stream that resumes has every event once: those before its cut, those that it missed, and those that follow', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(12), fc.nat(12)), { minLength: 1, maxLength: 4 }), async (rounds) => {
      const log = new MemoryLog();
      const server = await opened(log);
      const reader = openReader();
      const sent: string[] = [];
      for (const [round, [open, away]] of rounds.entries()) {
        await reader.connect(server.port);
        sent.push(...names(`open-${round}`, open));
        await publish(log, names(`open-${round}`, open));
        // At any moment: some of them have arrived.
        reader.cut();
        sent.push(...names(`away-${round}`, away));
        await publish(log, names(`away-${round}`, away));
      }
      await reader.connect(server.port);
      await publish(log, ['last']);
      await vi.waitFor(() => expect(reader.received).toContain('last'), 30_000);
      expect(reader.received.toSorted()).toEqual([...sent, 'last'].toSorted());
      expect(server.failures).toEqual([]);
      reader.cut();
      await server.close();
    }),
    { numRuns: 8 },
  );
});

test('a stream resumes at another dashboard, after the first has ended', async () => {
  const log = new MemoryLog();
  const first = await opened(log);
  const reader = openReader();
  await reader.connect(first.port);
  await first.close();
  await publish(log, ['missed']);
  const second = await opened(log);
  await reader.connect(second.port);
  await vi.waitFor(() => expect(reader.received).toEqual(['missed']), 30_000);
});

test('a long backlog arrives completely and in order', async () => {
  const log = new MemoryLog();
  const { port } = await opened(log);
  const reader = openReader();
  await reader.connect(port);
  reader.cut();
  const agents = Array.from({ length: 4500 }, (_, i) => `a-${i}`);
  for (const agentId of agents) await log.publish({ ...changed(agentId), key: 'one' } as never);
  await reader.connect(port);
  await vi.waitFor(() => expect(reader.received).toHaveLength(4500), 60_000);
  expect(reader.received).toEqual(agents);
});

const TOPICS = [Topic.agentHealth, Topic.agentOrder] as const;

/** Events in many partitions of two topics. Each has its place in the whole as the id of its agent. */
const spread = async (count: number): Promise<MemoryLog> => {
  const log = new MemoryLog({ partitions: 12 });
  for (let i = 0; i < count; i++) {
    const order = example(Topic.agentOrder, 'NUDGE_AGENT', { agentId: `a-${i}` }) as HealthEvent;
    const event = i % 3 === 0 ? order : changed(`a-${i}`);
    await log.publish({ ...event, key: `key-${i % 17}` } as never);
  }
  return log;
};

const agentOf = ({ payload }: HealthEvent): string => (payload as { readonly agentId: string }).agentId;

/** Reads until so many events have arrived, and is then cut off; the id that the reader has kept. */
const readUntilCut = async (log: MemoryLog, id: string, most: number, received: HealthEvent[]): Promise<string> => {
  const cut = new AbortController();
  const positions = Positions.parse(id, TOPICS);
  let kept = id;
  let left = most;
  const onEvent = async (event: HealthEvent) => {
    received.push(event);
    kept = positions.text;
    left -= 1;
    if (left === 0) cut.abort();
  };
  await readBacklog(log, TOPICS, positions, onEvent, cut.signal);
  return kept;
};

const BEGINNING = TOPICS.map(() => Array.from({ length: 12 }, () => '0').join('.')).join('-');

test('a resume over many partitions that is cut off after any event, and resumes, has each event once, and each key in order', async () => {
  const count = 60;
  const log = await spread(count);
  for (let cutAfter = 1; cutAfter <= count; cutAfter++) {
    const received: HealthEvent[] = [];
    const id = await readUntilCut(log, BEGINNING, cutAfter, received);
    expect(received).toHaveLength(cutAfter);
    await readUntilCut(log, id, Number.POSITIVE_INFINITY, received);
    expect(received.map(agentOf).toSorted()).toEqual(names('a', count).toSorted());
    for (const ofKey of Map.groupBy(received, ({ topic, key }) => `${topic} ${key}`).values()) {
      const places = ofKey.map((event) => Number(agentOf(event).slice(2)));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    }
  }
});

test('a resume that is cut off again and again, after every event, has each event once', async () => {
  const log = await spread(40);
  const received: HealthEvent[] = [];
  let id = BEGINNING;
  for (let i = 0; i < 40; i++) id = await readUntilCut(log, id, 1, received);
  expect(await readUntilCut(log, id, 1, received)).toBe(id);
  expect(received.map(agentOf).toSorted()).toEqual(names('a', 40).toSorted());
});

test('a backlog in many partitions is one read, and one of more than fits memory is several, each of a bounded size', async () => {
  const small = await spread(60);
  const read = vi.spyOn(small, 'readRanges');
  await readUntilCut(small, BEGINNING, Number.POSITIVE_INFINITY, []);
  expect(read).toHaveBeenCalledOnce();
  const large = await spread(MOST_AT_ONCE + 500);
  const reads = vi.spyOn(large, 'readRanges');
  const received: HealthEvent[] = [];
  await readUntilCut(large, BEGINNING, Number.POSITIVE_INFINITY, received);
  const sizes = reads.mock.calls.map(([ranges]) => ranges.reduce((sum, { low, high }) => sum + high - low, 0));
  expect(sizes).toEqual([MOST_AT_ONCE, 500]);
  expect(new Set(received.map(agentOf)).size).toBe(MOST_AT_ONCE + 500);
  expect(received).toHaveLength(MOST_AT_ONCE + 500);
});

test('a filtered stream resumes without what it did not request', async () => {
  const log = new MemoryLog();
  const { port } = await opened(log);
  const reader = openReader();
  await reader.connect(port, '?agent=wanted');
  reader.cut();
  await publish(log, ['other', 'wanted', 'other']);
  await reader.connect(port, '?agent=wanted');
  await publish(log, ['other', 'wanted']);
  await vi.waitFor(() => expect(reader.received).toEqual(['wanted', 'wanted']), 30_000);
});

test('an id of another stream is refused with the remedy', async () => {
  const { app } = dashboard();
  for (const id of ['x', '0', '1.2-3', 'ä', '-'.repeat(30)]) {
    const headers = { authorization: 'Bearer viewer', accept: 'text/event-stream', 'last-event-id': id };
    const answer = await app.inject({ url: '/v1/events', headers });
    expect(answer.json()).toMatchObject({ status: 400, type: 'urn:vigil:bad_position' });
  }
});

/** The topics that the live stream does not have: commands, dead letters, snapshots, terminals. */
const UNPUBLISHED = topicNames.filter((topic) => !publishedTopics.includes(topic));

test.each(['viewer', 'responder', 'operator', TOKEN])(
  'the token %s resumes no topic that is not published',
  async (role) => {
    const log = new MemoryLog();
    const lease = example(Topic.leaseTerminal, 'LEASE_TERMINAL', { by: 'ada-who-looks' });
    await log.publish(lease);
    const read = vi.spyOn(log, 'readRanges');
    const { app } = dashboard({}, '/no-page', { log });
    for (const topic of UNPUBLISHED)
      for (const [accept, id] of [
        ['text/event-stream', '0'],
        ['text/event-stream', undefined],
        ['application/x-ndjson', undefined],
      ] as const) {
        const headers = { authorization: `Bearer ${role}`, accept, ...(id !== undefined && { 'last-event-id': id }) };
        const answer = await app.inject({ url: `/v1/events?topic=${topic}`, headers });
        expect([topic, answer.statusCode]).toEqual([topic, 403]);
        expect(answer.body).not.toContain('ada-who-looks');
      }
    expect(read).not.toHaveBeenCalled();
  },
);
