import { expect, test, vi } from 'vitest';
import type { ReceiptDeps } from '../deps.ts';
import { noProgress } from '../heartbeat/progress.ts';
import { HookResponder } from '../messages/hook-responder.ts';
import { type AgentProcess, OrderExecutor } from '../orders/order-executor.ts';
import type { Entry } from '../state/journal.ts';
import { nudge, terminate } from '../testing/stage.ts';

/**
 * An executor for an agent that accepts every text and ends as ordered; its journal cannot write while the disk is
 * full.
 */
const onFullDisk = (highestNumber = -1) => {
  const deps = {
    isFull: true,
    now: 0,
    written: [] as Entry['kind'][],
    receipts: [] as string[],
    logged: 0,
    channel: 'socket',
  };
  const sent: string[] = [];
  const process = { instanceId: 'instance-1', ended: null, progress: noProgress, quiet: true };
  const agentProcess = {
    pid: { pid: 1, startTime: null },
    process: () => ({ ...process, channel: deps.channel, atQuestion: false, paused: false, resumedByItself: false }),
    send: async (_: unknown, text: string) => {
      sent.push(text);
      return ['delivered'];
    },
    end: async () => ['done', { confirmed: true }],
  } as unknown as AgentProcess;
  const executorDeps = {
    clock: { monotonic: () => deps.now, now: () => deps.now },
    logger: () => {
      deps.logged += 1;
    },
    outbox: { put: (report: { payload: { outcome: string } }) => deps.receipts.push(report.payload.outcome) },
    journal: {
      reportOf: () => undefined,
      write: ({ kind }: Entry) => {
        if (deps.isFull && kind === 'begun') throw new Error('ENOSPC: no space left on device, write');
        deps.written.push(kind);
      },
    },
  } as unknown as ReceiptDeps;
  const orderExecutor = new OrderExecutor(agentProcess, executorDeps, {
    highestNumber,
    handedOff: null,
    handedOffUntil: null,
  } as never);
  return { orderExecutor, deps, sent };
};

test('an order that the journal does not take has no effect, and is carried out when it does', async () => {
  const { orderExecutor, deps, sent } = onFullDisk();
  orderExecutor.offer(nudge(), 60_000);
  for (let n = 0; n < 3; n += 1) orderExecutor.check();
  expect([sent, deps.receipts, deps.logged]).toEqual([[], [], 1]);
  deps.isFull = false;
  orderExecutor.check();
  await vi.waitFor(() => expect(deps.receipts).toEqual(['delivered']));
  expect([sent.length, deps.written]).toEqual([1, ['begun', 'done']]);
});

test('it expires where the disk stays full', () => {
  const { orderExecutor, deps, sent } = onFullDisk();
  orderExecutor.offer(nudge(), 60_000);
  deps.now = 60_001;
  orderExecutor.check();
  expect([sent, deps.receipts]).toEqual([[], ['expired']]);
});

test('a terminate that an earlier supervisor had begun is carried through on a full disk', async () => {
  const { orderExecutor, deps } = onFullDisk(2);
  orderExecutor.carryThrough(terminate({ number: 2 }));
  orderExecutor.check();
  await vi.waitFor(() => expect(deps.receipts).toEqual(['done']));
});

test('an order that was carried through makes no later one new', async () => {
  const { orderExecutor, deps } = onFullDisk(3);
  deps.isFull = false;
  orderExecutor.carryThrough(terminate({ number: 2 }));
  await orderExecutor.settled();
  expect(orderExecutor.memory.highestNumber).toBe(3);
});

/** What a hook is sent that takes the texts that wait. */
const takenBy = (orderExecutor: OrderExecutor): object[] => {
  const hookResponder = new HookResponder(
    { report: () => {}, sent: () => {}, sessions: { read: () => {} } } as never,
    'auto',
    { ask: async () => {} },
  );
  hookResponder.serve(orderExecutor);
  const answers: object[] = [];
  hookResponder.socketHandlers.onHook({ takes: true }, { answer: (one) => answers.push(one), onGone: () => {} });
  return answers;
};

test('a hook is not kept waiting for a text that the journal does not take; the next hook gets it', () => {
  const { orderExecutor, deps } = onFullDisk();
  deps.channel = 'hook';
  orderExecutor.offer(nudge(), 60_000);
  expect(takenBy(orderExecutor)).toEqual([{ hook: { texts: 0, refusal: null, question: null } }]);
  deps.isFull = false;
  expect(takenBy(orderExecutor)).toEqual([
    { hook: { texts: 1, refusal: null, question: null } },
    { text: 'are you still there', order_id: 'nudge-1' },
  ]);
});
