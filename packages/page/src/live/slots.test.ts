import { expect, test } from 'vitest';
import { MOST_TERMINALS, takeSlot } from './slots.ts';

let ids = 0;
const take = (agentId: string): Promise<() => void> => {
  ids += 1;
  return takeSlot(navigator.locks, agentId, `${ids}`);
};

test('a browser has four terminals open; the fifth is refused with their agents until one of them is closed', async () => {
  const open = await Promise.all(['d', 'b', 'two words', 'b'].map(take));
  expect(open).toHaveLength(MOST_TERMINALS);
  await expect(take('e')).rejects.toThrow(
    '4 terminals are open in this browser, the most that it has room for: b, b, d, two words. Close one of them',
  );
  open[0]?.();
  await expect.poll(() => take('e').then(open.push.bind(open), () => 0)).toBe(5);
  await expect(take('f')).rejects.toThrow(': b, b, e, two words.');
  for (const release of open) release();
});

test('of terminals that are opened in the same moment, four are', async () => {
  const all = await Promise.allSettled(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(take));
  const open = all.filter((one) => one.status === 'fulfilled');
  expect(open).toHaveLength(MOST_TERMINALS);
  for (const { value: release } of open) release();
});
