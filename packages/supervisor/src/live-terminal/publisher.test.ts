import { afterEach, expect, test, vi } from 'vitest';
import type { Gateway, TerminalReport } from '../gateway/gateway-client.ts';
import { MOST_TERMINALS } from './leases.ts';
import { TerminalPublisher, type TerminalSource } from './publisher.ts';
import { changed, MOST_LINES } from './window.ts';

type Agent = { lines: readonly string[]; passed: number; isOver: boolean; instanceId: string; looked: number };

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A publisher on a clock that the test moves, with agents whose terminals the test writes. */
const stage = (names: readonly string[] = ['worker-1']) => {
  vi.useFakeTimers();
  const sent: TerminalReport[] = [];
  const refused = { is: false };
  const agents = new Map<string, Agent>(
    names.map((name) => [name, { lines: ['one'], passed: 0, isOver: false, instanceId: `${name}.i1`, looked: 0 }]),
  );
  const sources = (): readonly TerminalSource[] =>
    [...agents].map(([agentId, agent]) => ({
      spec: { agentId, instanceId: agent.instanceId },
      isOver: () => agent.isOver,
      hasSubagent: (id: string) => id === `${agentId}:sub`,
      shownTerminal: () => {
        agent.looked += 1;
        return { lines: agent.lines, passed: agent.passed, outputAt: 5 };
      },
    }));
  const gateway = {
    terminal: async (report: TerminalReport) => {
      if (refused.is) throw new Error('refused');
      sent.push(report);
    },
  } as Gateway;
  const clock = { now: () => Date.now(), monotonic: () => Date.now() };
  const publisher = new TerminalPublisher({ clock, gateway, logger: () => {} }, 'run-1', sources);
  const stop = new AbortController();
  const running = publisher.run(stop.signal);
  const end = async () => {
    if (stop.signal.aborted) return;
    stop.abort();
    await vi.advanceTimersByTimeAsync(2000);
    await running;
    vi.useRealTimers();
  };
  stops.push(end);
  const lease = (agentId: string, leaseId = 'lease-1', expiresInMs = 30_000) =>
    publisher.observe([{ agentId, leaseId, expiresInMs }]);
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const agent = (name = 'worker-1') => agents.get(name) as Agent;
  /** The lines of a viewer that has read everything. */
  const lines = (): readonly string[] =>
    sent.reduce<readonly string[]>((before, report) => {
      if (report.type === 'TERMINAL_CLOSED') return before;
      return report.payload.sequence === 0 ? report.payload.lines : changed(before, report.payload);
    }, []);
  return { sent, refused, agent, agents, lease, pass, lines, end };
};

test('without a lease nothing is read and nothing is published', async () => {
  const { sent, agent, pass } = stage();
  await pass(60_000);
  expect([sent.length, agent().looked]).toEqual([0, 0]);
});

test('a lease publishes all lines, then what changes', async () => {
  const { sent, agent, lease, pass, lines } = stage();
  lease('worker-1');
  await pass(500);
  agent().lines = ['one', 'two'];
  await pass(500);
  expect(sent).toMatchObject([
    { type: 'TERMINAL_CHANGED', payload: { sequence: 0, lines: ['one'], instanceId: 'worker-1.i1', outputAt: 5 } },
    { type: 'TERMINAL_CHANGED', payload: { sequence: 1, removed: 0, kept: 1, lines: ['two'] } },
  ]);
  expect(lines()).toEqual(['one', 'two']);
});

test('when the lease is over, nothing more is read or published', async () => {
  const { sent, agent, lease, pass } = stage();
  lease('worker-1');
  await pass(30_500);
  const [before, looked] = [sent.length, agent().looked];
  agent().lines = ['one', 'two'];
  await pass(60_000);
  expect([sent.length, agent().looked]).toEqual([before, looked]);
});

test('however fast an agent prints, its terminal has at most two records a second', async () => {
  const { sent, agent, lease, pass } = stage();
  lease('worker-1');
  for (let i = 0; i < 200; i += 1) {
    agent().lines = [`line ${i}`];
    await pass(50);
  }
  expect(sent.length).toBeGreaterThan(10);
  expect(sent.length).toBeLessThanOrEqual(21);
});

test('lines that came and left between two records are counted, and one that fits is not', async () => {
  const { sent, agent, lease, pass } = stage();
  lease('worker-1');
  await pass(500);
  agent().passed += MOST_LINES;
  agent().lines = ['full'];
  await pass(500);
  agent().passed += MOST_LINES + 7;
  await pass(500);
  expect(sent.map(({ payload }) => ('unseen' in payload ? payload.unseen : null))).toEqual([0, 0, 7]);
});

test('a terminal without a change is reported every five seconds, so that it is known to be live', async () => {
  const { sent, lease, pass } = stage();
  lease('worker-1');
  await pass(4900);
  expect(sent).toHaveLength(1);
  await pass(1000);
  expect(sent[1]).toMatchObject({ payload: { sequence: 1, kept: 1, lines: [] } });
});

test('a second viewer receives all lines, and the first one stays right', async () => {
  const { sent, agent, lease, pass, lines } = stage();
  lease('worker-1', 'a');
  await pass(500);
  agent().lines = ['one', 'two'];
  lease('worker-1', 'b');
  await pass(500);
  expect(sent.at(-1)).toMatchObject({ payload: { sequence: 0, lines: ['one', 'two'] } });
  expect(lines()).toEqual(['one', 'two']);
});

test('after a record that could not be sent, all lines follow', async () => {
  const { sent, refused, agent, lease, pass } = stage();
  lease('worker-1');
  await pass(500);
  refused.is = true;
  agent().lines = ['one', 'lost'];
  await pass(500);
  refused.is = false;
  await pass(500);
  expect(sent.at(-1)).toMatchObject({ payload: { sequence: 0, lines: ['one', 'lost'] } });
});

test('secrets are not published', async () => {
  const { lease, agent, pass, lines } = stage();
  agent().lines = ['API_KEY=abc123', '\u001b]52;c;x\u0007'];
  lease('worker-1');
  await pass(500);
  expect(lines()).toEqual(['API_KEY=[redacted]', '\uFFFD]52;c;x\uFFFD']);
});

test('the end of an agent closes its terminal once, and its next instance opens it again', async () => {
  const { sent, agent, lease, pass } = stage();
  lease('worker-1');
  await pass(500);
  agent().isOver = true;
  await pass(3000);
  expect(sent.slice(1)).toMatchObject([
    { type: 'TERMINAL_CLOSED', payload: { instanceId: 'worker-1.i1', why: 'the agent has ended' } },
    { type: 'TERMINAL_CLOSED', payload: { instanceId: null, why: 'no process of it runs with run-1' } },
  ]);
  Object.assign(agent(), { isOver: false, instanceId: 'worker-1.i2', lines: ['again'] });
  await pass(500);
  expect(sent.at(-1)).toMatchObject({ payload: { sequence: 0, instanceId: 'worker-1.i2', lines: ['again'] } });
});

test('a sub-agent has no terminal, and the reason is reported', async () => {
  const { sent, lease, pass } = stage();
  lease('worker-1:sub');
  await pass(2000);
  expect(sent).toMatchObject([{ type: 'TERMINAL_CLOSED', payload: { why: expect.stringContaining('parent agent') } }]);
});

test('a stopping runtime closes the terminals that it publishes', async () => {
  const { sent, lease, pass, end } = stage();
  lease('worker-1');
  await pass(500);
  await end();
  expect(sent.at(-1)).toMatchObject({ type: 'TERMINAL_CLOSED', payload: { why: 'its runtime has stopped' } });
});

test('of more leased agents than a runtime publishes, the later ones are reported as closed', async () => {
  const names = Array.from({ length: MOST_TERMINALS + 1 }, (_, i) => `worker-${i}`);
  const { sent, lease, pass } = stage(names);
  for (const name of names) lease(name);
  await pass(600);
  const closed = sent.filter(({ type }) => type === 'TERMINAL_CLOSED');
  expect(closed).toMatchObject([{ payload: { agentId: `worker-${MOST_TERMINALS}` } }]);
});
