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

test('a backlog larger than what is read at once arrives completely and in order', async () => {
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
    const read = vi.spyOn(log, 'read');
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
