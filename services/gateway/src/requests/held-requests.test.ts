import { expect, test } from 'vitest';
import { createHeldRequests, GRACE_MS, WRITE_AGAIN_MS } from './held-requests.ts';

const START = 1_000_000;
const one = { requestId: 'r-1', agentId: 'worker-1' };

test('a request whose hook waits is not lost, however long it waits', () => {
  const held = createHeldRequests(START);
  held.wait(one, START);
  held.isUnwritten('r-1', START);
  expect(held.lost([one], START + 100 * GRACE_MS)).toEqual([]);
});

test('a hook whose connection broke may ask again within the grace; after it the request is lost, once', () => {
  const held = createHeldRequests(START);
  const end = held.wait(one, START);
  held.isUnwritten('r-1', START);
  end(false, START + 1);
  expect(held.lost([], START + GRACE_MS)).toEqual([]);
  const again = held.wait(one, START + GRACE_MS);
  expect(held.lost([], START + 2 * GRACE_MS)).toEqual([]);
  again(false, START + 2 * GRACE_MS);
  expect(held.lost([], START + 3 * GRACE_MS - 1)).toEqual([]);
  expect(held.lost([], START + 3 * GRACE_MS)).toEqual([one]);
  expect(held.lost([], START + 4 * GRACE_MS)).toEqual([]);
});

test('a request from before the restart is lost after the grace, unless its hook is back', () => {
  const held = createHeldRequests(START);
  const back = { requestId: 'r-2', agentId: 'worker-2' };
  held.wait(back, START + 5);
  expect(held.lost([one, back], START + GRACE_MS - 1)).toEqual([]);
  expect(held.lost([one, back], START + GRACE_MS)).toEqual([one]);
});

test('a request with an end that its hook has received is forgotten', () => {
  const held = createHeldRequests(START);
  const end = held.wait(one, START);
  held.isUnwritten('r-1', START);
  end(true, START + 1);
  expect(held.size()).toBe(0);
  expect(held.lost([], START + 2 * GRACE_MS)).toEqual([]);
});

test('a request is written once, and again where nothing was read of it for five seconds', () => {
  const held = createHeldRequests(START);
  held.wait(one, START);
  expect(held.isUnwritten('r-1', START)).toBe(true);
  expect(held.isUnwritten('r-1', START + WRITE_AGAIN_MS - 1)).toBe(false);
  expect(held.isUnwritten('r-1', START + WRITE_AGAIN_MS)).toBe(true);
});

test('a request that was never written leaves nothing behind', () => {
  const held = createHeldRequests(START);
  held.wait(one, START)(false, START);
  expect(held.size()).toBe(0);
});
