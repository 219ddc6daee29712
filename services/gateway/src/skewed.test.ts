import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { answerOf, least, testGateway } from './testing.ts';

const { log, later, get, post } = testGateway();
const nudge = example(Topic.agentOrder, 'NUDGE_AGENT', { ttlMs: 60_000 });
const offered = async () => (await answerOf(await get('/v1/runtimes/host-1/orders?wait=0.1'))).body.orders as object[];

test('an order is offered for its time by the brokers, however far ahead or behind the clock of the gateway is', async () => {
  for (const ms of [3_600_000, -7_200_000]) {
    later(ms);
    await post('/v1/heartbeats', least);
    const payload = { ...nudge.payload, orderId: `order ${ms}`.replace(' ', '-') };
    await log().publish({ ...nudge, payload });
    const [order, ...others] = await offered();
    expect(others).toEqual([]);
    expect(order).toMatchObject({ payload: { orderId: payload.orderId } });
    const { expiresInMs } = order as { expiresInMs: number };
    expect(expiresInMs).toBeGreaterThan(50_000);
    // The estimate of the brokers' clock may be off by half a round trip.
    expect(expiresInMs).toBeLessThanOrEqual(60_100);
  }
});
