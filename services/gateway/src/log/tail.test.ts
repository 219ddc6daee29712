import { type Codec, NewerEvent, RegistryTrouble, Topic, UnknownSchemaId } from '@vigil/events';
import { example } from '@vigil/events/examples';
import type { Log } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createState } from '../state/state.ts';
import { tail } from './tail.ts';

const LONG = { timeout: 10_000, interval: 20 };
let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
});
afterEach(() => {
  vi.useRealTimers();
  stop.abort();
});

/**
 * A follower on a log in memory. Events of `emitUnreadable` have a schema that only the registry has, and the
 * registry is away.
 */
const following = async () => {
  const memory = new MemoryLog();
  const registry: { isAway: boolean; requested: number; refusal: Error } = {
    isAway: true,
    requested: 0,
    refusal: new RegistryTrouble('the registry is away'),
  };
  const strange = new Set<string>();
  const decode: Codec['decode'] = (topic, value) => {
    if (strange.has(value.toString('hex'))) throw new UnknownSchemaId(99_999);
    return memory.codec.decode(topic, value);
  };
  const learn: Codec['learn'] = async () => {
    registry.requested += 1;
    if (registry.isAway) throw registry.refusal;
    strange.clear();
  };
  const log: Log = Object.assign(Object.create(memory), { codec: { ...memory.codec, decode, learn } });
  const warned: string[] = [];
  const counted: string[] = [];
  const logger = { warn: (_: object, line: string) => warned.push(line) };
  const state = createState('vigil', stop.signal);
  const deps = { logger, count: (metric: string) => counted.push(metric), signal: stop.signal, now: Date.now };
  const followed = await tail(log, state, deps as never);
  const emitUnreadable = (event: Parameters<Codec['encode']>[0] & { key: string }) => {
    const value = memory.codec.encode(event);
    strange.add(value.toString('hex'));
    memory.publishRaw(event.topic, event.key, value);
  };
  return { memory, registry, followed, state, warned, counted, emitUnreadable };
};

test('an order whose schema the registry does not answer for waits alone, and is known once it answers', async () => {
  const { registry, emitUnreadable, memory, state, followed, warned } = await following();
  const observed = vi.spyOn(state.pendingOrders, 'observeOrder');
  const ids = () => observed.mock.calls.map(([{ payload }]) => payload.orderId);
  const order = example(Topic.agentOrder, 'NUDGE_AGENT');
  emitUnreadable({ ...order, payload: { ...order.payload, orderId: 'strange' } } as never);
  await memory.publish({ ...order, payload: { ...order.payload, orderId: 'known' } } as never);
  await vi.waitFor(() => expect(registry.requested).toBeGreaterThan(1), LONG);
  expect(ids()).toEqual(['known']);
  expect(await followed.halts()).toBe(true);
  registry.isAway = false;
  await vi.waitFor(() => expect(ids()).toEqual(['known', 'strange']), LONG);
  expect(warned).toEqual([]);
});

test('the orders are known while a record of another topic waits for the registry', async () => {
  const { registry, emitUnreadable, followed } = await following();
  emitUnreadable(example(Topic.policy, 'POLICY_REFUSED') as never);
  await vi.waitFor(() => expect(registry.requested).toBeGreaterThan(1), LONG);
  await followed.orders();
});

test('a request for orders does not wait for one whose schema is pending, and is not answered that all are known', async () => {
  const { registry, emitUnreadable, followed } = await following();
  emitUnreadable(example(Topic.agentOrder, 'NUDGE_AGENT') as never);
  await vi.waitFor(() => expect(registry.requested).toBeGreaterThan(1), LONG);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (let time = 0; time < 2; time++) {
    const answer = expect(followed.orders()).rejects.toThrow('no answer');
    await vi.advanceTimersByTimeAsync(5_000);
    await answer;
  }
  vi.useRealTimers();
  registry.isAway = false;
  await vi.waitFor(() => followed.orders(), LONG);
});

test('while a record that may announce a halt waits for the registry, the halts are not known', async () => {
  const { registry, emitUnreadable, state, followed } = await following();
  emitUnreadable(example(Topic.fleetGovernance, 'FLEET_HALTED') as never);
  await vi.waitFor(() => expect(registry.requested).toBeGreaterThan(1), LONG);
  expect(await followed.halts()).toBe(false);
  registry.isAway = false;
  await vi.waitFor(async () => expect(await followed.halts()).toBe(true), LONG);
  expect(state.halts.isHalted()).toBe(true);
});

test('an event of a newer version is skipped and counted, without a warning', async () => {
  const { registry, emitUnreadable, counted, warned } = await following();
  registry.refusal = new NewerEvent('it is an event of a newer version');
  emitUnreadable(example(Topic.policy, 'POLICY_REFUSED') as never);
  await vi.waitFor(() => expect(counted).toEqual(['newer_events']), LONG);
  expect(warned).toEqual([]);
});

test('a record that is read and cannot be observed ends the following: it is our mistake', async () => {
  const { memory, state, followed } = await following();
  vi.spyOn(state.pendingOrders, 'observeOrder').mockImplementation(() => {
    throw new Error('ours');
  });
  await memory.publish(example(Topic.agentOrder, 'NUDGE_AGENT'));
  await expect(followed.finished).rejects.toThrow('ours');
});
