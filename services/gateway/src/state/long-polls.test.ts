import { expect, test } from 'vitest';
import { createLongPolls, MOST_OF_ONE, MOST_POLLS } from './long-polls.ts';

const refused = { status: 503, reason: 'too_many_polls' };

test('a limited number of polls of one runtime wait; when they are over, others may', async () => {
  const longPolls = createLongPolls(new AbortController().signal);
  const waiting = Array.from({ length: MOST_OF_ONE }, () => longPolls.wait('host-1', 60_000));
  await expect(longPolls.wait('host-1', 60_000)).rejects.toMatchObject(refused);
  await longPolls.wait('host-2', 1);
  longPolls.wake('host-1');
  await Promise.all(waiting);
  await longPolls.wait('host-1', 1);
});

test('a limited number of polls wait in all', async () => {
  const closing = new AbortController();
  const longPolls = createLongPolls(closing.signal);
  const waiting = Array.from({ length: MOST_POLLS }, (_, i) => longPolls.wait(`host-${i}`, 60_000));
  await expect(longPolls.wait('one-more', 60_000)).rejects.toMatchObject(refused);
  closing.abort();
  await Promise.all(waiting);
});
