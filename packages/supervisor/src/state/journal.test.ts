import { appendFileSync, mkdtempSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Order, receiptOf } from '../orders/order.ts';
import { remedyOf } from '../runtime/crash-recovery.ts';
import { nudge, spawn, terminate } from '../testing/stage.ts';
import { openJournal } from './journal.ts';
import type { Occupant } from './lock.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-journal-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const unexpected = (message: string, fields?: object) => {
  throw new Error(`${message} ${JSON.stringify(fields)}`);
};
const path = () => join(dir, 'journal.jsonl');
const pid = { pid: 4711, startTime: '99' };
const begun = (order: Order) => ({ kind: 'begun', orderId: order.payload.orderId, order, pid }) as const;
const receipt = { type: 'ORDER_RECEIPT', payload: receiptOf(nudge(), 5, 'delivered') } as const;

test('an executed order has the same answer after a restart, and is not unfinished', () => {
  const before = openJournal(path(), unexpected);
  before.write(begun(nudge()));
  before.write({ kind: 'done', orderId: 'nudge-1', report: receipt });
  before.close();
  const after = openJournal(path(), unexpected);
  expect(after.reportOf('nudge-1')).toEqual(receipt);
  expect(after.unfinished).toEqual([]);
  after.close();
});

test('an order that was begun and not finished is found by every later supervisor until it is answered', () => {
  const before = openJournal(path(), unexpected);
  before.write(begun(terminate()));
  before.close();
  openJournal(path(), unexpected).close();
  const after = openJournal(path(), unexpected);
  expect(after.unfinished).toEqual([begun(terminate())]);
  expect(after.reportOf('end-1')).toBeUndefined();
  after.close();
});

test('a torn last line is as if it had never been written', () => {
  const before = openJournal(path(), unexpected);
  before.write(begun(nudge()));
  before.close();
  appendFileSync(path(), '{"kind":"done","orderId":"nudge-1","rep');
  const after = openJournal(path(), unexpected);
  expect(after.unfinished).toEqual([begun(nudge())]);
  after.close();
});

test('an unreadable line before the last is reported with its place, and the lines around it count', () => {
  const end = JSON.stringify(begun(terminate()));
  writeFileSync(path(), `${JSON.stringify(begun(nudge()))}\n{"kind":"done","ord\n${end}\n`);
  const reported: object[] = [];
  const journal = openJournal(path(), (message, fields) => reported.push({ message, ...fields }));
  expect(journal.unfinished).toEqual([begun(nudge()), begun(terminate())]);
  expect(reported).toMatchObject([{ message: expect.stringContaining('unreadable line'), path: path(), line: 2 }]);
  journal.close();
});

test('a nudge found begun is reported uncertain, never repeated', () => {
  expect(remedyOf(begun(nudge()), null)).toMatchObject({ kind: 'report_uncertain' });
});

test('a terminate found begun is repeated against exactly that process', () => {
  expect(remedyOf(begun(terminate()), null)).toMatchObject({ kind: 'end_again', pid });
});

const ptyHost: Occupant = {
  agentId: 'worker-1.r1',
  instanceId: 'instance-9',
  taskId: 'TASK-1',
  runtimeId: 'run-1',
  attempt: 1,
  orderId: 'spawn-1',
  supervisor: { pid: 1, startTime: '1' },
  ptyHost: null,
  child: pid,
  cgroup: null,
  endRequestedBy: null,
};

test('a spawn found begun is reported as spawned where the lock file names the process', () => {
  expect(remedyOf(begun(spawn()), ptyHost)).toMatchObject({
    kind: 'report_spawned',
    ptyHost: { instanceId: 'instance-9' },
  });
});

test('a spawn found begun is uncertain where the lock file was taken and no process is named', () => {
  expect(remedyOf(begun(spawn()), { ...ptyHost, child: null })).toMatchObject({ kind: 'spawn_uncertain' });
});

test('a spawn that had begun may be repeated if no agent holds its lock', () => {
  expect(remedyOf(begun(spawn()), null)).toEqual({ kind: 'forget', orderId: 'spawn-1' });
  expect(remedyOf(begun(spawn()), { ...ptyHost, orderId: 'spawn-0' })).toEqual({ kind: 'forget', orderId: 'spawn-1' });
});

test('on a full disk an executed order is still answered, and recorded when there is room again; a torn line is harmless', () => {
  let isFull = false;
  const journal = openJournal(path(), unexpected, (file, text) => {
    if (!isFull) return void writeSync(file, text);
    writeSync(file, text.slice(0, 9));
    throw new Error('ENOSPC: no space left on device, write');
  });
  journal.write(begun(nudge()));
  isFull = true;
  journal.write({ kind: 'done', orderId: 'nudge-1', report: receipt });
  expect(journal.reportOf('nudge-1')).toEqual(receipt);
  expect(() => journal.write(begun(terminate()))).toThrow('ENOSPC');
  isFull = false;
  journal.write(begun(terminate()));
  journal.close();
  const reported: string[] = [];
  const after = openJournal(path(), (message) => reported.push(message));
  expect(reported).toHaveLength(2);
  expect(after.reportOf('nudge-1')).toEqual(receipt);
  expect(after.unfinished).toEqual([begun(terminate())]);
  after.close();
});
