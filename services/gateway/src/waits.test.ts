import { expect, test } from 'vitest';
import { createWaits, MOST_OF_ONE, MOST_WAITS } from './waits.ts';

const refused = { status: 503, reason: 'too_many_polls' };

test('so many polls of one runtime wait and no more; when they are over, others may', async () => {
  const waits = createWaits(new AbortController().signal);
  const waiting = Array.from({ length: MOST_OF_ONE }, () => waits.wait('host-1', 60_000));
  await expect(waits.wait('host-1', 60_000)).rejects.toMatchObject(refused);
  await waits.wait('host-2', 1);
  waits.wake('host-1');
  await Promise.all(waiting);
  await waits.wait('host-1', 1);
});

test('so many polls wait in all and no more', async () => {
  const closing = new AbortController();
  const waits = createWaits(closing.signal);
  const waiting = Array.from({ length: MOST_WAITS }, (_, i) => waits.wait(`host-${i}`, 60_000));
  await expect(waits.wait('one-more', 60_000)).rejects.toMatchObject(refused);
  closing.abort();
  await Promise.all(waiting);
});
