import { Topic } from '@vigil/events';
import { writer } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Received, receive } from '../support/received.ts';
import { openSystem, ownServers, type TestSystem, until } from '../support/system.ts';
import { type Instance, openPuppets, type Puppets, terminate } from './puppets.ts';

/**
 * Terminate orders that arrive late, for another instance, after progress, or twice. The order executor checks them
 * again.
 */
describe.skipIf(!ownServers)('an order is looked at again where it is carried out', () => {
  let vigil: TestSystem;
  let received: Received;
  let puppets: Puppets;

  beforeAll(async () => {
    vigil = await openSystem({ name: 'orders', services: ['heartbeat-ingest', 'gateway'] });
    received = await receive(vigil, [Topic.heartbeat, Topic.orderReceipt, Topic.runtimePresence]);
    puppets = openPuppets(vigil, received, 'demo', ['late', 'busy', 'twice', 'again']);
    puppets.start();
  });
  afterAll(async () => {
    await puppets?.stop();
    received?.stop();
    await vigil?.stop();
  });

  type Order = ReturnType<typeof terminate>;
  const write = (...orders: Order[]) => writer(vigil.log, Date.now).write(orders);
  const receipts = ({ payload: { orderId } }: Order) =>
    received
      .of(Topic.orderReceipt)
      .map(({ payload }) => payload)
      .filter((one) => one.orderId === orderId);
  const receipt = (order: Order) => until(`the receipt of ${order.payload.orderId}`, async () => receipts(order)[0]);
  /** Later heartbeats of the same instance. */
  const heartbeatsOn = (instance: Instance) =>
    until(`${instance.agentId} sends more heartbeats`, async () => {
      const now = await puppets.instance(instance.agentId);
      return now.instanceId === instance.instanceId && now.sequence > instance.sequence + 1;
    });

  test('late: a runtime that stood still while the time to live passed answers expired, and ends no agent', async () => {
    // A runtime that has announced itself polls for orders: an order that expires before the first poll has no receipt.
    await until('the runtime is there', async () => received.of(Topic.runtimePresence).length > 0);
    const instance = await puppets.instance('late');
    await heartbeatsOn(instance);
    puppets.signal('SIGSTOP');
    // Enough time for the order to reach the frozen runtime, also on a busy host.
    const order = terminate(instance, { ttlMs: 6000 });
    await write(order);
    const written = (await vigil.records(Topic.agentOrder)).at(-1)?.timestamp ?? Number.POSITIVE_INFINITY;
    await until('its time is over', async () => Date.now() > written + 6100);
    puppets.signal('SIGCONT');
    expect(await receipt(order)).toMatchObject({
      outcome: 'expired',
      confirmed: false,
      instanceId: instance.instanceId,
    });
    await heartbeatsOn(instance);
    expect(puppets.ends('late')).toBe(0);
  });

  test('after progress: superseded where the agent has worked since the finding, and it works on', async () => {
    const instance = await puppets.instance('busy');
    await until('it has worked on', async () =>
      received
        .of(Topic.heartbeat)
        .some(
          ({ key, payload: { instance_id, sequence, tool_calls } }) =>
            key === 'busy' &&
            instance_id === instance.instanceId &&
            (sequence ?? 0) > instance.sequence &&
            tool_calls.length > 0,
        ),
    );
    const order = terminate(instance, { axes: ['absence', 'repetition'], foldedSequence: instance.sequence });
    await write(order);
    const answered = await receipt(order);
    expect(answered).toMatchObject({ outcome: 'superseded', confirmed: false });
    expect(answered.why).toBe(`what was awaited has come since heartbeat ${instance.sequence}`);
    await heartbeatsOn(await puppets.instance('busy'));
    expect(puppets.ends('busy')).toBe(0);
  });

  test('twice: an order that a gateway offers again is carried out once, with one receipt', async () => {
    const order = terminate(await puppets.instance('twice'));
    await write(order, order);
    await until('it is being carried out', async () => puppets.ends('twice') === 1);
    vigil.system.service('gateway').kill('SIGKILL');
    expect(await receipt(order)).toMatchObject({ outcome: 'done', confirmed: true });
    await write(order);
    const after = terminate(await puppets.instance('twice'), { number: 2 });
    await write(after);
    expect(await receipt(after)).toMatchObject({ outcome: 'superseded' });
    expect(new Set(receipts(order).map(({ outcome }) => outcome))).toEqual(new Set(['done']));
    expect(puppets.ends('twice')).toBe(1);
  });

  test('for an older instance: superseded, and the present instance is left alone', async () => {
    const first = await puppets.instance('again');
    await puppets.stop();
    const ended = puppets.ends('again');
    puppets.start();
    const second = await puppets.instance('again', first.instanceId);
    const order = terminate(first);
    await write(order);
    const answered = await receipt(order);
    expect(answered).toMatchObject({ outcome: 'superseded', instanceId: first.instanceId, confirmed: false });
    expect(answered.why).toContain(second.instanceId);
    await heartbeatsOn(second);
    expect(puppets.ends('again')).toBe(ended);
  });
});
