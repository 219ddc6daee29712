import { Topic } from '@vigil/events';
import { expect, test, vi } from 'vitest';
import { least, testGateway } from './testing.ts';

const { log, mute, later, ready, close, post } = testGateway();
const keys = () =>
  log()
    .records(Topic.heartbeat)
    .map(({ key }) => key);
const marksOf = (key: string) => keys().filter((one) => one === key).length;
const LONG = { timeout: 10_000, interval: 20 };

test('a failed write is answered so that the sender connects again: another instance may be able to write', async () => {
  mute();
  const answer = await post('/v1/heartbeats', least);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('connection')).toBe('close');
  mute(false);
  expect((await post('/v1/heartbeats', least)).headers.get('connection')).toBe('keep-alive');
});

test('an instance that cannot write is not ready, and vouches for no time until others have seen that it is ready again', async () => {
  expect(ready()).toBe(true);
  mute();
  later(4000);
  expect(ready()).toBe(false);
  mute(false);
  await vi.waitFor(() => expect(marksOf('@probe/gateway:a')).toBeGreaterThan(0), LONG);
  expect(ready()).toBe(true);
  const [opened, probed] = [marksOf('@ingress/gateway:a'), marksOf('@probe/gateway:a')];
  await vi.waitFor(() => expect(marksOf('@probe/gateway:a')).toBeGreaterThan(probed), LONG);
  expect(marksOf('@ingress/gateway:a')).toBe(opened);
});

test('a mark follows the heartbeats that were accepted before it, and the last mark follows all heartbeats', async () => {
  await post('/v1/heartbeats', [least, { ...least, agent_id: 'worker-2' }]);
  await close();
  for (const partition of [0, 1, 2, 3]) {
    const records = log().partition(Topic.heartbeat, partition);
    expect(records[0]).toMatchObject({ key: '@ingress/gateway:a', value: null });
    expect(records.at(-1)).toMatchObject({ key: '@ingress/gateway:a', value: Buffer.from('released') });
  }
});
