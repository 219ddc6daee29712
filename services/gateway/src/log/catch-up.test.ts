import { expect, test } from 'vitest';
import { oneAtATime } from './tail.ts';

const readings = () => {
  const begun: PromiseWithResolvers<void>[] = [];
  const catchUp = oneAtATime(() => {
    const reading = Promise.withResolvers<void>();
    begun.push(reading);
    return reading.promise;
  });
  return { begun, catchUp };
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('who asks while one reads waits for a reading that begins after it has asked, together with all others', async () => {
  const { begun, catchUp } = readings();
  const first = catchUp();
  await turn();
  const others = [catchUp(), catchUp(), catchUp()];
  await turn();
  expect(begun).toHaveLength(1);
  begun[0]?.resolve();
  await first;
  await turn();
  expect(begun).toHaveLength(2);
  begun[1]?.resolve();
  await Promise.all(others);
});

test('a reading that fails fails for those that waited for it, and the next one reads again', async () => {
  const { begun, catchUp } = readings();
  const first = catchUp();
  await turn();
  const second = catchUp();
  begun[0]?.reject(new Error('the broker is away'));
  await expect(first).rejects.toThrow('away');
  await turn();
  begun[1]?.resolve();
  await expect(second).resolves.toBeUndefined();
});
