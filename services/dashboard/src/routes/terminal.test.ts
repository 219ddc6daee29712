import { type EventOf, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { agent, dashboard } from '../app.fixture.ts';
import { MOST_OF_CALLER } from './streams.ts';
import { AWAY_AFTER_MS, LEASE_MS, RENEW_MS } from './terminal.ts';

type TerminalEvent = EventOf<typeof Topic.agentTerminal>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const changed = (payload: object): TerminalEvent => ({
  ...(example(Topic.agentTerminal, 'TERMINAL_CHANGED', {
    ...{ agentId: 'worker-1', instanceId: 'i1', runtimeId: 'host-1', sequence: 0, removed: 0, kept: 0 },
    ...{ lines: [], unseen: 0, outputAt: null },
    ...payload,
  }) as TerminalEvent),
  occurredAt: 700,
});
const closed = (why: string): TerminalEvent => ({
  ...(example(Topic.agentTerminal, 'TERMINAL_CLOSED', { agentId: 'worker-1', why }) as TerminalEvent),
  occurredAt: 900,
});

/** An operator that looks at the terminal of worker-1. `end` gives what it has received. */
const look = async (headers: object = {}, query = '') => {
  const opened = dashboard();
  const { app, stop, clock, terminalListeners, written } = opened;
  const answer = app.inject({
    url: `/v1/agents/worker-1/terminal${query}`,
    headers: { authorization: 'Bearer operator', ...headers },
  });
  await vi.waitFor(() => expect(written).toHaveLength(1));
  return {
    ...opened,
    publish: (event: TerminalEvent) => {
      for (const listener of terminalListeners) listener(event);
    },
    pass: async (ms: number) => {
      clock.now += ms;
      await vi.advanceTimersByTimeAsync(ms);
    },
    end: async () => {
      stop.abort();
      const { body } = await answer;
      const lines = body.split('\n').filter((line) => line.startsWith('{') || line.startsWith('data: '));
      return lines.map((line) => JSON.parse(line.replace(/^data: /, '')) as Record<string, unknown>);
    },
  };
};

test('an operator that looks at a terminal has a lease, which is renewed while the stream is open and ends with it', async () => {
  const { written, pass, end, terminals } = await look({}, '?why=it%20hangs');
  expect(terminals).toEqual([{ agentId: 'worker-1', by: 'olga', why: 'it hangs' }]);
  const lease = { agentId: 'worker-1', leaseId: 'lease-1', ttlMs: LEASE_MS, by: 'olga', why: 'it hangs' };
  expect(written).toMatchObject([
    { topic: Topic.leaseTerminal, type: 'LEASE_TERMINAL', key: 'worker-1', payload: lease },
  ]);
  await pass(RENEW_MS);
  expect(written[1]).toMatchObject({ payload: lease });
  await end();
  expect(written[2]).toMatchObject({ payload: { ...lease, ttlMs: 0 } });
  await pass(10 * RENEW_MS);
  expect(written).toHaveLength(3);
});

test('the stream listens before the runtime can publish', async () => {
  const { terminalListeners, end } = await look();
  expect(terminalListeners.size).toBe(1);
  await end();
  expect(terminalListeners.size).toBe(0);
});

test('the lines arrive in order: all, then what changes, and those of another agent do not', async () => {
  const { publish, end } = await look({ accept: 'text/event-stream' });
  publish(changed({ agentId: 'worker-2', lines: ['theirs'] }));
  publish(changed({ lines: ['one'] }));
  publish(changed({ sequence: 1, kept: 1, lines: ['two'], unseen: 3, outputAt: 5 }));
  expect(await end()).toEqual([
    { kind: 'status', status: 'waiting', since: 1000, runtimeId: 'host-1' },
    { kind: 'whole', lines: ['one'], instanceId: 'i1', at: 700, unseen: 0, outputAt: null },
    { kind: 'status', status: 'live', since: 700, runtimeId: 'host-1' },
    { kind: 'change', removed: 0, kept: 1, lines: ['two'], instanceId: 'i1', at: 700, unseen: 3, outputAt: 5 },
  ]);
});

test('a change that does not follow the known lines is left out until all lines come', async () => {
  const { publish, end } = await look();
  publish(changed({ sequence: 4, lines: ['of another viewer'] }));
  publish(changed({ sequence: 0, lines: ['one'] }));
  publish(changed({ sequence: 2, lines: ['after a gap'] }));
  publish(changed({ sequence: 0, lines: ['all'] }));
  const shown = (await end()).flatMap(({ lines }) => lines ?? []);
  expect(shown).toEqual(['one', 'all']);
});

test('a runtime that does not report counts as away, since its last report, and a second before it does not', async () => {
  const { publish, pass, end } = await look();
  publish(changed({ lines: ['one'] }));
  await pass(AWAY_AFTER_MS - 1000);
  publish(changed({ sequence: 1, kept: 1 }));
  await pass(AWAY_AFTER_MS);
  publish(changed({ lines: ['again'] }));
  const statuses = (await end()).filter(({ kind }) => kind === 'status').map(({ status, since }) => [status, since]);
  expect(statuses).toEqual([
    ['waiting', 1000],
    ['live', 700],
    ['away', 1000 + AWAY_AFTER_MS - 1000],
    ['live', 700],
  ]);
});

test('a terminal that is closed has its reason, and does not count as away', async () => {
  const { publish, pass, end } = await look();
  publish(changed({ lines: ['one'] }));
  publish(closed('the agent has ended'));
  await pass(2 * AWAY_AFTER_MS);
  expect((await end()).slice(3)).toEqual([
    { kind: 'closed', why: 'the agent has ended', at: 900 },
    { kind: 'status', status: 'closed', since: 900, runtimeId: 'host-1' },
  ]);
});

test.each(['viewer', 'responder'])('a %s sees no terminal, and none is published for it', async (role) => {
  const { app, written, terminalListeners } = dashboard();
  const url = '/v1/agents/worker-1/terminal';
  const answer = await app.inject({ url, headers: { authorization: `Bearer ${role}` } });
  expect(answer.json()).toMatchObject({ status: 403, detail: expect.stringContaining('operator') });
  expect([written.length, terminalListeners.size]).toEqual([0, 0]);
});

test.each(['agentTerminal', Topic.agentTerminal])('the stream of events does not have terminals: %s', async (topic) => {
  const { app } = dashboard();
  for (const accept of ['text/event-stream', 'application/x-ndjson']) {
    const headers = { authorization: 'Bearer viewer', accept, 'last-event-id': '0' };
    expect((await app.inject({ url: `/v1/events?topic=${topic}`, headers })).statusCode).toBe(403);
  }
});

test.each([
  [{ runtimeId: null }, 'runs without a runtime'],
  [{ state: 'TERMINATED' }, 'has ended'],
])('an agent that is %o has no terminal, and the answer has why', async (more, why) => {
  const { request, written } = dashboard({ agent: async () => ({ ...agent, ...more }) });
  const answer = await request('GET', '/v1/agents/worker-1/terminal');
  expect(answer.json()).toMatchObject({ status: 409, detail: expect.stringContaining(why) });
  expect(written).toEqual([]);
});

test('a lease that cannot be written is logged, and the stream stays open', async () => {
  const failing = async () => {
    throw new Error('the broker is away');
  };
  const { app, stop, failures } = dashboard({}, '/no-page', { write: failing });
  const headers = { authorization: 'Bearer operator' };
  const answer = app.inject({ url: '/v1/agents/worker-1/terminal', headers });
  await vi.waitFor(() => expect(failures).toHaveLength(1));
  stop.abort();
  expect((await answer).body).toContain('"waiting"');
});

test('terminals count among the 16 streams of a caller: the next is refused with the limit, and gets no lease', async () => {
  const { app, stop, written } = dashboard();
  const open = () => app.inject({ url: '/v1/agents/worker-1/terminal', headers: { authorization: 'Bearer operator' } });
  const answers = Array.from({ length: MOST_OF_CALLER }, open);
  await vi.waitFor(() => expect(written).toHaveLength(MOST_OF_CALLER));
  const refused = await open();
  expect(refused.json()).toMatchObject({ status: 429, detail: expect.stringContaining('olga has 16 streams') });
  expect(written).toHaveLength(MOST_OF_CALLER);
  stop.abort();
  await Promise.all(answers);
});
