import { expect, test, vi } from 'vitest';
import type { ReceiptDeps } from '../deps.ts';
import { noProgress } from '../heartbeat/progress.ts';
import { HookDesk } from '../messages/hook-responder.ts';
import { type Body, Hands } from '../orders/order-executor.ts';
import type { Entry } from '../state/journal.ts';
import { nudge, terminate } from '../testing/stage.ts';

/** Hands over an agent that takes every text and ends as ordered; its journal takes nothing while the disk is full. */
const onFullDisk = (highestNumber = -1) => {
  const world = {
    isFull: true,
    now: 0,
    written: [] as Entry['kind'][],
    receipts: [] as string[],
    logged: 0,
    channel: 'socket',
  };
  const told: string[] = [];
  const process = { instanceId: 'instance-1', ended: null, progress: noProgress, quiet: true };
  const body = {
    pid: { pid: 1, startTime: null },
    process: () => ({ ...process, channel: world.channel, atQuestion: false, paused: false, wentOn: false }),
    tell: async (_: unknown, text: string) => {
      told.push(text);
      return ['delivered'];
    },
    end: async () => ['done', { confirmed: true }],
  } as unknown as Body;
  const surroundings = {
    clock: { monotonic: () => world.now, now: () => world.now },
    log: () => {
      world.logged += 1;
    },
    outbox: { put: (report: { payload: { outcome: string } }) => world.receipts.push(report.payload.outcome) },
    journal: {
      reportOf: () => undefined,
      write: ({ kind }: Entry) => {
        if (world.isFull && kind === 'begun') throw new Error('ENOSPC: no space left on device, write');
        world.written.push(kind);
      },
    },
  } as unknown as ReceiptDeps;
  const hands = new Hands(body, surroundings, { highestNumber, handedOff: null, handedOffUntil: null } as never);
  return { hands, world, told };
};

test('an order that the journal does not take has no effect, and is carried out when it does', async () => {
  const { hands, world, told } = onFullDisk();
  hands.offer(nudge(), 60_000);
  for (let n = 0; n < 3; n += 1) hands.lookAgain();
  expect([told, world.receipts, world.logged]).toEqual([[], [], 1]);
  world.isFull = false;
  hands.lookAgain();
  await vi.waitFor(() => expect(world.receipts).toEqual(['delivered']));
  expect([told.length, world.written]).toEqual([1, ['begun', 'done']]);
});

test('it expires where the disk stays full', () => {
  const { hands, world, told } = onFullDisk();
  hands.offer(nudge(), 60_000);
  world.now = 60_001;
  hands.lookAgain();
  expect([told, world.receipts]).toEqual([[], ['expired']]);
});

test('a terminate that an earlier supervisor had begun is carried through on a full disk', async () => {
  const { hands, world } = onFullDisk(2);
  hands.carryThrough(terminate({ number: 2 }));
  hands.lookAgain();
  await vi.waitFor(() => expect(world.receipts).toEqual(['done']));
});

test('an order that was carried through makes no later one new', async () => {
  const { hands, world } = onFullDisk(3);
  world.isFull = false;
  hands.carryThrough(terminate({ number: 2 }));
  await hands.settled();
  expect(hands.memory.highestNumber).toBe(3);
});

/** What a hook is sent that takes the texts that wait. */
const takenBy = (hands: Hands): object[] => {
  const desk = new HookDesk({ said: () => {}, told: () => {}, sessions: { read: () => {} } } as never, 'auto');
  desk.serve(hands);
  const answers: object[] = [];
  desk.ears.onHook({ takes: true }, { answer: (one) => answers.push(one), onGone: () => {} });
  return answers;
};

test('a hook is not kept waiting for a text that the journal does not take; the next hook gets it', () => {
  const { hands, world } = onFullDisk();
  world.channel = 'hook';
  hands.offer(nudge(), 60_000);
  expect(takenBy(hands)).toEqual([{ hook: { texts: 0, refusal: null } }]);
  world.isFull = false;
  expect(takenBy(hands)).toEqual([
    { hook: { texts: 1, refusal: null } },
    { text: 'are you still there', order_id: 'nudge-1' },
  ]);
});
