import type { OutRecord } from '@vigil/stream';
import { expect, test } from 'vitest';
import { createOutbox, MOST_BYTES } from './outbox.ts';

const record = (key: string, bytes = 10): OutRecord => ({ topic: 't', partition: 0, key, value: Buffer.alloc(bytes) });

test('what concurrent requests write is given on in one moment, in the order of arrival', async () => {
  const written: (string | null)[][] = [];
  const moments: number[] = [];
  let moment = 0;
  const outbox = createOutbox(async (records) => {
    queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => (moment += 1))));
    moments.push(moment);
    written.push(records.map(({ key }) => key));
  });
  await Promise.all([outbox.send([record('a')]), outbox.send([record('b'), record('c')])]);
  expect(written).toEqual([['a'], ['b', 'c']]);
  expect(moments).toEqual([0, 0]);
});

test('a request that cannot be written keeps no other from being written, and fails alone', async () => {
  const outbox = createOutbox(([first]) =>
    first?.key === 'a' ? Promise.reject(new Error('away')) : Promise.resolve(),
  );
  const [a, b] = [outbox.send([record('a')]), outbox.send([record('b')])];
  await expect(a).rejects.toThrow('away');
  await expect(b).resolves.toBeUndefined();
});

test('a request that hangs keeps no later one waiting', async () => {
  const outbox = createOutbox(([first]) => (first?.key === 'a' ? new Promise(() => {}) : Promise.resolve()));
  void outbox.send([record('a')]);
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
