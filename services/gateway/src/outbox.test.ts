import type { OutRecord } from '@vigil/stream';
import { expect, test } from 'vitest';
import { createOutbox, MOST_BYTES } from './outbox.ts';

const record = (key: string, bytes = 10): OutRecord => ({ topic: 't', partition: 0, key, value: Buffer.alloc(bytes) });
const keysOf = (sent: readonly (readonly OutRecord[])[]) => sent.map((records) => records.map(({ key }) => key));

test('what concurrent requests write is sent together, in the order of arrival', async () => {
  const sent: (readonly OutRecord[])[] = [];
  const outbox = createOutbox(async (records) => void sent.push(records));
  await Promise.all([outbox.send([record('a')]), outbox.send([record('b'), record('c')])]);
  expect(keysOf(sent)).toEqual([['a', 'b', 'c']]);
});

test('what comes while a produce is under way goes with the next', async () => {
  const sent: (readonly OutRecord[])[] = [];
  const first = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const outbox = createOutbox(async (records) => {
    sent.push(records);
    begun.resolve();
    await (sent.length === 1 ? first.promise : undefined);
  });
  const a = outbox.send([record('a')]);
  await begun.promise;
  const rest = [outbox.send([record('b')]), outbox.send([record('c')])];
  first.resolve();
  await Promise.all([a, ...rest]);
  expect(keysOf(sent)).toEqual([['a'], ['b', 'c']]);
});

test('a produce stays below what a partition takes in one batch, and what is larger alone goes alone', async () => {
  const sent: (readonly OutRecord[])[] = [];
  const outbox = createOutbox(async (records) => void sent.push(records));
  const half = 128 * 1024;
  await Promise.all([
    outbox.send([record('a', half)]),
    outbox.send([record('b', half)]),
    outbox.send([record('c', 1)]),
    outbox.send([record('d', 4 * half)]),
  ]);
  expect(keysOf(sent)).toEqual([['a', 'b'], ['c'], ['d']]);
});

test('a failed produce fails the requests that were in it, and no others', async () => {
  let produced = 0;
  const outbox = createOutbox(async () => {
    produced += 1;
    if (produced === 1) throw new Error('the broker is away');
  });
  await expect(outbox.send([record('a')])).rejects.toThrow('the broker is away');
  await expect(outbox.send([record('b')])).resolves.toBeUndefined();
});

test('while the broker stands, no more is kept than fits the memory; once it has gone on, more is taken', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const outbox = createOutbox(() => promise);
  const first = outbox.send([record('a', MOST_BYTES)]);
  await expect(outbox.send([record('b', 1)])).rejects.toMatchObject({ status: 503, reason: 'too_much_waits' });
  resolve();
  await first;
  await outbox.send([record('c', MOST_BYTES)]);
});
