import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { testWorld } from './fixture.ts';
import { type Envelope, Orders } from './orders.ts';
import type { Line } from './transport/transport.ts';
import type { Heard } from './words.ts';

const about = { agentId: 'worker-1', instanceId: 'life-1', runtimeId: '', axes: ['absence'], foldedSequence: 5 };

type Nudge = Extract<Envelope, { readonly type: 'NUDGE_AGENT' }>['payload'];
const nudge = (payload: Partial<Nudge> = {}, expiresInMs = 1000): Envelope => ({
  type: 'NUDGE_AGENT',
  payload: example(Topic.agentOrder, 'NUDGE_AGENT', { ...about, orderId: 'o-1', number: 1, message: 'm', ...payload })
    .payload,
  expiresInMs,
});

const orders = ({ mark = null as number | null, listens = true } = {}) => {
  const heard: Heard[] = [];
  const who = { agentId: 'worker-1', instanceId: 'life-1', taskId: null, runtimeId: null, attempt: null };
  const line: Line = {
    who: { ...who, maxAttempts: null, policy: null, labels: {} },
    world: testWorld(),
    hear: (one) => {
      heard.push(one);
      return listens;
    },
    mark: () => mark,
    tell: () => {},
  };
  const all = new Orders(line);
  return { heard, outcomes: (...given: Envelope[]) => all.heed(given).map(({ outcome }) => outcome) };
};

test('an order is passed on once, and answered alike each time it is offered', () => {
  const { heard, outcomes } = orders();
  expect([outcomes(nudge()), outcomes(nudge()), outcomes(nudge())]).toEqual([
    ['delivered'],
    ['delivered'],
    ['delivered'],
  ]);
  expect(heard).toEqual([{ kind: 'nudge', message: 'm' }]);
});

test('orders are heeded by their number; one that comes after a higher one is superseded', () => {
  const { heard, outcomes } = orders();
  outcomes(
    nudge({ orderId: 'o-3', number: 3, message: 'three' }),
    nudge({ orderId: 'o-2', number: 2, message: 'two' }),
  );
  expect(heard).toMatchObject([{ message: 'two' }, { message: 'three' }]);
  expect(outcomes(nudge({ number: 1 }))).toEqual(['superseded']);
});

test('what is for another life, or too late, is not passed on, and answered; what is for another agent is not answered', () => {
  const { heard, outcomes } = orders();
  expect(outcomes(nudge({ instanceId: 'life-0' }))).toEqual(['superseded']);
  expect(outcomes(nudge({ orderId: 'o-2' }, 0))).toEqual(['expired']);
  expect(outcomes(nudge({ orderId: 'o-3', agentId: 'worker-2' }))).toEqual([]);
  expect(heard).toEqual([]);
});

test('a finding of silence is overtaken by a call since; one of repetition is not, nor any by a call that it knew', () => {
  expect(orders({ mark: 6 }).outcomes(nudge())).toEqual(['superseded']);
  expect(orders({ mark: 5 }).outcomes(nudge())).toEqual(['delivered']);
  expect(orders({ mark: 6 }).outcomes(nudge({ axes: ['absence', 'repetition'] }))).toEqual(['delivered']);
  expect(orders({ mark: 6 }).outcomes(nudge({ foldedSequence: null }))).toEqual(['delivered']);
});

test('where nobody listens it says so', () => expect(orders({ listens: false }).outcomes(nudge())).toEqual(['failed']));

test('what only hands can do is left to them; the others are understood', () => {
  const { heard, outcomes } = orders();
  const order = (
    type: 'PROBE_AGENT' | 'HANDOFF_AGENT' | 'RESET_BREAKER' | 'TERMINATE_AGENT',
    number: number,
  ): Envelope => {
    const { payload } = example(Topic.agentOrder, type, { ...about, orderId: type, number });
    return { type, payload, expiresInMs: 1 } as Envelope;
  };
  const kinds = ['PROBE_AGENT', 'HANDOFF_AGENT', 'RESET_BREAKER', 'TERMINATE_AGENT'] as const;
  expect(outcomes(...kinds.map(order))).toEqual(['delivered', 'delivered', 'done']);
  expect(heard.map(({ kind }) => kind)).toEqual(['probe', 'handoff', 'reset_breaker']);
});
