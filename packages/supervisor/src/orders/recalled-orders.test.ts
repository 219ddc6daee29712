import { describe, expect, test, vi } from 'vitest';
import type { ReceiptDeps } from '../deps.ts';
import { noProgress } from '../heartbeat/progress.ts';
import { nudge, pause, resume, terminate } from '../testing/stage.ts';
import type { AgentOrder } from './order.ts';
import { type AgentProcess, OrderExecutor } from './order-executor.ts';

/** An executor for an agent that can receive a text only when it is `free`. */
const orderExecutor = () => {
  const at = { now: 0, free: false, paused: false };
  const receipts: string[] = [];
  const done: string[] = [];
  const process = { instanceId: 'instance-1', ended: null, progress: noProgress, channel: 'file', quiet: true };
  const agentProcess = {
    pid: { pid: 1, startTime: null },
    process: () => ({ ...process, atQuestion: !at.free, paused: at.paused, resumedByItself: false }),
    send: async (_: unknown, text: string) => {
      done.push(text);
      return ['delivered'];
    },
    pause: async () => {
      at.paused = true;
      return true;
    },
    resume: async () => {
      at.paused = false;
      return true;
    },
    end: () => new Promise(() => done.push('end')),
  } as unknown as AgentProcess;
  const reports = new Map<string, { payload: { orderId: string; outcome: string; why: string | null } }>();
  const deps = {
    clock: { monotonic: () => at.now, now: () => at.now },
    logger: () => {},
    outbox: {
      put: ({ payload }: { payload: { orderId: string; outcome: string } }) =>
        receipts.push(`${payload.orderId} ${payload.outcome}`),
    },
    journal: {
      reportOf: (orderId: string) => reports.get(orderId),
      write: (entry: { kind: string; orderId: string; report: never }) => {
        if (entry.kind === 'done') reports.set(entry.orderId, entry.report);
      },
    },
  } as unknown as ReceiptDeps;
  const memory = { highestNumber: -1, handedOff: null, handedOffUntil: null } as never;
  const of = new OrderExecutor(agentProcess, deps, memory);
  const offer = (order: AgentOrder) => of.offer(order, 600_000);
  const whyOf = (orderId: string) => reports.get(orderId)?.payload.why;
  return { at, of, offer, receipts, done, whyOf };
};

describe('when the fleet is halted', () => {
  test('what waits is answered, and never begun, however often it is offered after', () => {
    const { at, of, offer, receipts, done, whyOf } = orderExecutor();
    offer(nudge());
    of.recall(nudge());
    expect(receipts).toEqual(['nudge-1 halted']);
    expect(whyOf('nudge-1')).toBe('the fleet is halted');
    at.free = true;
    offer(nudge());
    of.check();
    expect(receipts).toEqual(['nudge-1 halted', 'nudge-1 halted']);
    expect(done).toEqual([]);
  });

  test('an order that comes with the halt is answered without being begun', () => {
    const { of, receipts, done } = orderExecutor();
    of.recall(terminate());
    expect([receipts, done]).toEqual([['end-1 halted'], []]);
  });

  test('an order that has begun continues', () => {
    const { of, offer, receipts, done } = orderExecutor();
    offer(terminate());
    of.recall(terminate());
    expect([receipts, done]).toEqual([[], ['end']]);
  });

  test('an executed order is answered as before', async () => {
    const { at, of, offer, receipts } = orderExecutor();
    at.free = true;
    offer(nudge());
    await vi.waitFor(() => expect(receipts).toEqual(['nudge-1 delivered']));
    of.recall(nudge());
    expect(receipts).toEqual(['nudge-1 delivered', 'nudge-1 delivered']);
  });

  test('an agent that is resumed continues, and receives no text', async () => {
    const { at, of, offer, receipts, done, whyOf } = orderExecutor();
    offer(pause({ number: 1 }));
    await vi.waitFor(() => expect(receipts).toEqual(['pause-1 done']));
    offer(resume({ number: 2, message: 'go on' }));
    await vi.waitFor(() => expect(at.paused).toBe(false));
    await new Promise(setImmediate);
    of.recall(resume({ number: 2, message: 'go on' }));
    at.free = true;
    of.check();
    await vi.waitFor(() => expect(receipts).toEqual(['pause-1 done', 'resume-1 done']));
    expect(whyOf('resume-1')).toBe('the agent continues without the text: the fleet is halted');
    expect(done).toEqual([]);
  });
});

test('what waits is begun only where the gateway has repeated it within ten seconds', async () => {
  const { at, of, offer, receipts } = orderExecutor();
  offer(nudge());
  at.free = true;
  at.now = 10_001;
  of.check();
  expect(of.textsDue()).toEqual([]);
  expect(receipts).toEqual([]);
  offer(nudge());
  await vi.waitFor(() => expect(receipts).toEqual(['nudge-1 delivered']));
});

test('and at the end of the ten seconds still', async () => {
  const { at, of, offer, receipts } = orderExecutor();
  offer(nudge());
  at.free = true;
  at.now = 10_000;
  of.check();
  await vi.waitFor(() => expect(receipts).toEqual(['nudge-1 delivered']));
});
