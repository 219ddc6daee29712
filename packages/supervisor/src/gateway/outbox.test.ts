import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GatewayAway, GatewayForbids, GatewayRefused } from '../errors.ts';
import { type Report, receiptOf } from '../orders/order.ts';
import { nudge } from '../testing/stage.ts';
import type { Gateway } from './gateway-client.ts';
import { Outbox } from './outbox.ts';

let dir = '';
let taken: string[] = [];
let answers: Record<string, Error> = {};
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-outbox-'));
  [taken, answers] = [[], {}];
});
afterEach(() => rmSync(dir, { recursive: true }));

const receipt = (orderId: string): Report => ({
  type: 'ORDER_RECEIPT',
  payload: receiptOf(nudge({ orderId }), 0, 'delivered'),
});
const report: Gateway['report'] = async (reports) => {
  for (const { payload } of reports) {
    const orderId = 'orderId' in payload ? (payload.orderId ?? '') : '';
    if (answers[orderId]) throw answers[orderId];
    taken.push(orderId);
  }
};
const open = (pid: number) =>
  new Outbox(
    dir,
    { pid, startTime: '1' },
    { report } as unknown as Gateway,
    () => {},
    () => {},
  );
const until = (look: () => void) => vi.waitFor(look, { timeout: 60_000, interval: 10 });

test('a report that the token does not allow keeps no other waiting, and goes when the token is corrected', async () => {
  answers = { 'another-name': new GatewayForbids('not yours') };
  const outbox = open(process.pid);
  for (const orderId of ['another-name', 'a', 'b']) outbox.put(receipt(orderId));
  await until(() => expect(taken).toEqual(['a', 'b']));
  answers = {};
  await until(() => expect(taken).toEqual(['a', 'b', 'another-name']));
  outbox.close();
});

test('while a report that the token does not allow waits for its next try, others are sent at once', async () => {
  vi.useFakeTimers();
  try {
    answers = { 'another-name': new GatewayForbids('not yours') };
    const outbox = open(process.pid);
    outbox.put(receipt('another-name'));
    await vi.advanceTimersByTimeAsync(10_000);
    outbox.put(receipt('a'));
    await vi.advanceTimersByTimeAsync(0);
    expect(taken).toEqual(['a']);
    outbox.close();
  } finally {
    vi.useRealTimers();
  }
});

test('a report that is refused for good is kept on the disk, and not sent again', async () => {
  answers = { ownerless: new GatewayRefused('no such order', 409, 'no such order') };
  const outbox = open(process.pid);
  outbox.put(receipt('ownerless'));
  outbox.put(receipt('a'));
  await until(() => expect(taken).toEqual(['a']));
  expect(await outbox.settled(1000)).toBe(true);
  expect(readdirSync(dir).map((name) => name.replace(/^.*json/, ''))).toEqual(['.refused']);
  outbox.close();
});

test('while the gateway is away all wait in their order, and what a dead supervisor has left is sent by the next', async () => {
  answers = { a: new GatewayAway('away') };
  const gone = open(999_999_999);
  gone.put(receipt('a'));
  gone.put(receipt('b'));
  gone.close();
  expect(taken).toEqual([]);
  answers = {};
  const next = open(process.pid);
  await until(() => expect(taken).toEqual(['a', 'b']));
  await until(() => expect(readdirSync(dir)).toEqual([]));
  next.close();
});

test('an unreadable report of a dead supervisor is sent once it can be read; other files are left there', async () => {
  answers = { a: new GatewayAway('away') };
  const gone = open(999_999_999);
  gone.put(receipt('a'));
  gone.close();
  answers = {};
  const [name = ''] = readdirSync(dir);
  const path = join(dir, name);
  const report = readFileSync(path);
  rmSync(path);
  mkdirSync(path); // a folder cannot be read as a file
  const broken = name.replace('00000001', '00000002');
  writeFileSync(join(dir, broken), '{');
  const next = open(process.pid);
  next.put(receipt('b'));
  await until(() => expect(taken).toEqual(['b']));
  rmSync(path, { recursive: true });
  writeFileSync(path, report);
  await until(() => expect(taken).toEqual(['b', 'a']));
  await until(() => expect(readdirSync(dir)).toEqual([broken]));
  next.close();
});

test('a report that the disk does not take is sent all the same, and saved when the disk takes it', async () => {
  answers = { a: new GatewayAway('away') };
  const outbox = open(process.pid);
  rmSync(dir, { recursive: true });
  outbox.put(receipt('a'));
  outbox.put(receipt('b'));
  mkdirSync(dir);
  await until(() => expect(readdirSync(dir)).toHaveLength(2));
  rmSync(dir, { recursive: true });
  outbox.put(receipt('c'));
  answers = {};
  await until(() => expect(taken).toEqual(['a', 'b', 'c']));
  mkdirSync(dir);
  outbox.close();
});

test('a refused report that cannot be put aside keeps no other waiting', async () => {
  answers = { ownerless: new GatewayRefused('no such order', 409, 'no such order') };
  const outbox = open(process.pid);
  outbox.put(receipt('ownerless'));
  for (const name of readdirSync(dir)) mkdirSync(join(dir, `${name}.refused`));
  outbox.put(receipt('a'));
  await until(() => expect(taken).toEqual(['a']));
  outbox.close();
});
