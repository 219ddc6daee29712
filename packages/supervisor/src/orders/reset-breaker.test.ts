import { expect, test, vi } from 'vitest';
import type { ReceiptDeps } from '../deps.ts';
import { noProgress } from '../heartbeat/progress.ts';
import { nudge } from '../testing/stage.ts';
import type { AgentOrder } from './order.ts';
import { type AgentProcess, OrderExecutor } from './order-executor.ts';

const reset = (number: number) =>
  ({
    type: 'RESET_BREAKER',
    payload: { ...nudge().payload, orderId: `reset-${number}`, number, name: 'tool_execution' },
  }) as unknown as AgentOrder;

test('a breaker that is reset while a text waits does not take the place of the text, nor the text that of a reset', async () => {
  const receipts: string[] = [];
  let paused = true;
  const process = { instanceId: 'instance-1', ended: null, progress: noProgress, channel: 'socket', quiet: true };
  const agentProcess = {
    pid: { pid: 1, startTime: null },
    process: () => ({ ...process, atQuestion: false, paused, resumedByItself: false }),
    send: async () => ['delivered'],
    resetBreaker: () => true,
    push: () => false,
  } as unknown as AgentProcess;
  const deps = {
    clock: { monotonic: () => 0, now: () => 0 },
    logger: () => {},
    outbox: {
      put: ({ payload }: { payload: { orderId: string; outcome: string } }) =>
        receipts.push(`${payload.orderId} ${payload.outcome}`),
    },
    journal: { reportOf: () => undefined, write: () => {} },
  } as unknown as ReceiptDeps;
  const orderExecutor = new OrderExecutor(agentProcess, deps, {
    highestNumber: -1,
    handedOff: null,
    handedOffUntil: null,
  } as never);
  orderExecutor.offer(nudge({ number: 2 }), 60_000);
  orderExecutor.offer(reset(3), 60_000);
  await vi.waitFor(() => expect(receipts).toEqual(['reset-3 done']));
  paused = false;
  orderExecutor.check();
  await vi.waitFor(() => expect(receipts).toEqual(['reset-3 done', 'nudge-1 delivered']));
  orderExecutor.offer(reset(1), 60_000);
  await vi.waitFor(() => expect(receipts).toContain('reset-1 done'));
});
