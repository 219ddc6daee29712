import { Topic } from '@vigil/events';
import { writer } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Heard, hear } from '../support/heard.ts';
import { openSystem, ownServers, type TestSystem, until } from '../support/system.ts';
import { type Life, openPuppets, type Puppets, terminate } from './puppets.ts';

/** What a terminate finds when it comes late, for another, after progress or twice: the hands themselves look again. */
describe.skipIf(!ownServers)('an order is looked at again where it is carried out', () => {
  let vigil: TestSystem;
  let heard: Heard;
  let puppets: Puppets;

  beforeAll(async () => {
    vigil = await openSystem({ name: 'orders', services: ['heartbeat-ingest', 'gateway'] });
    heard = await hear(vigil, [Topic.heartbeat, Topic.orderReceipt, Topic.runtimePresence]);
    puppets = openPuppets(vigil, heard, 'demo', ['late', 'busy', 'twice', 'again']);
    puppets.start();
  });
  afterAll(async () => {
    await puppets?.stop();
    heard?.stop();
    await vigil?.stop();
  });

  type Order = ReturnType<typeof terminate>;
  const write = (...orders: Order[]) => writer(vigil.log).write(orders);
  const receipts = ({ payload: { orderId } }: Order) =>
    heard
      .of(Topic.orderReceipt)
      .map(({ payload }) => payload)
      .filter((one) => one.orderId === orderId);
  const receipt = (order: Order) => until(`the receipt of ${order.payload.orderId}`, async () => receipts(order)[0]);
  /** Beats of the same life that were sent after this one. */
  const beatsOn = (life: Life) =>
    until(`${life.agentId} beats on`, async () => {
      const now = await puppets.life(life.agentId);
      return now.instanceId === life.instanceId && now.sequence > life.sequence + 1;
    });

  test('late: a runtime that stood still while the time to live passed answers expired, and ends nobody', async () => {
    // A runtime that has announced itself asks for orders: one that expires before anybody asks has no receipt.
    await until('the runtime is there', async () => heard.of(Topic.runtimePresence).length > 0);
    const life = await puppets.life('late');
    await beatsOn(life);
    puppets.signal('SIGSTOP');
    // Time enough to reach the one who stands still, on a busy host too.
    const order = terminate(life, { ttlMs: 6000 });
    await write(order);
    const written = (await vigil.records(Topic.agentOrder)).at(-1)?.timestamp ?? Number.POSITIVE_INFINITY;
    await until('its time is over', async () => Date.now() > written + 6100);
    puppets.signal('SIGCONT');
    expect(await receipt(order)).toMatchObject({ outcome: 'expired', confirmed: false, instanceId: life.instanceId });
    await beatsOn(life);
    expect(puppets.ends('late')).toBe(0);
  });

  test('after progress: superseded where the agent has worked since the finding, and it works on', async () => {
    const life = await puppets.life('busy');
    await until('it has worked on', async () =>
      heard
        .of(Topic.heartbeat)
        .some(
          ({ key, payload: { instance_id, sequence, tool_calls } }) =>
            key === 'busy' &&
            instance_id === life.instanceId &&
            (sequence ?? 0) > life.sequence &&
            tool_calls.length > 0,
        ),
    );
    const order = terminate(life, { axes: ['absence', 'repetition'], foldedSequence: life.sequence });
    await write(order);
    const answered = await receipt(order);
    expect(answered).toMatchObject({ outcome: 'superseded', confirmed: false });
    expect(answered.why).toBe(`what was awaited has come since heartbeat ${life.sequence}`);
    await beatsOn(await puppets.life('busy'));
    expect(puppets.ends('busy')).toBe(0);
  });

  test('twice: offered again by a gateway that has forgotten it, it is done once, with the one receipt', async () => {
    const order = terminate(await puppets.life('twice'));
    await write(order, order);
    await until('it is being carried out', async () => puppets.ends('twice') === 1);
    vigil.system.service('gateway').kill('SIGKILL');
    expect(await receipt(order)).toMatchObject({ outcome: 'done', confirmed: true });
    await write(order);
    const after = terminate(await puppets.life('twice'), { number: 2 });
    await write(after);
    expect(await receipt(after)).toMatchObject({ outcome: 'superseded' });
    expect(new Set(receipts(order).map(({ outcome }) => outcome))).toEqual(new Set(['done']));
    expect(puppets.ends('twice')).toBe(1);
  });

  test('for an older instance: superseded, and the life that has the name now is left alone', async () => {
    const first = await puppets.life('again');
    await puppets.stop();
    const ended = puppets.ends('again');
    puppets.start();
    const second = await puppets.life('again', first.instanceId);
    const order = terminate(first);
    await write(order);
    const answered = await receipt(order);
    expect(answered).toMatchObject({ outcome: 'superseded', instanceId: first.instanceId, confirmed: false });
    expect(answered.why).toContain(second.instanceId);
    await beatsOn(second);
    expect(puppets.ends('again')).toBe(ended);
  });
});
