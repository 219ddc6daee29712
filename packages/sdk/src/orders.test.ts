import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { testWorld } from './fixture.ts';
import { type Envelope, Orders } from './orders.ts';
import { type Marks, noProgress } from './progress.ts';
import type { Line } from './transport/transport.ts';
import type { Heard } from './words.ts';

const about = { agentId: 'worker-1', instanceId: 'life-1', runtimeId: '', axes: ['absence'], foldedSequence: 5 };
const saved = { awaits: [['checkpoint' as const]] };

type Nudge = Extract<Envelope, { readonly type: 'NUDGE_AGENT' }>['payload'];
const nudge = (payload: Partial<Nudge> = {}, expiresInMs = 1000): Envelope => ({
  type: 'NUDGE_AGENT',
  payload: example(Topic.agentOrder, 'NUDGE_AGENT', { ...about, orderId: 'o-1', number: 1, message: 'm', ...payload })
    .payload,
  expiresInMs,
});

const orders = ({ marks = {} as Marks, listens = true } = {}) => {
  const heard: Heard[] = [];
  const who = { agentId: 'worker-1', instanceId: 'life-1', taskId: null, runtimeId: null, attempt: null };
  const line: Line = {
    who: { ...who, maxAttempts: null, policy: null, labels: {} },
    world: testWorld(),
    hear: (one) => {
      heard.push(one);
      return listens;
    },
    progress: () => ({ ...noProgress, marks }),
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

test('an order is superseded by what its finding awaited, not by anything else', () => {
  expect(orders({ marks: { checkpoint: 6 } }).outcomes(nudge(saved))).toEqual(['superseded']);
  expect(orders({ marks: { checkpoint: 5 } }).outcomes(nudge(saved))).toEqual(['delivered']);
  expect(orders({ marks: { call: 6, activity: 6, heartbeat: 6 } }).outcomes(nudge(saved))).toEqual(['delivered']);
  expect(orders({ marks: { checkpoint: 6 } }).outcomes(nudge({ ...saved, foldedSequence: null }))).toEqual([
    'delivered',
  ]);
});

test('where a finding does not say what it awaited, silence is overtaken by any activity', () => {
  const outcomes = (axes: string[]) => orders({ marks: { activity: 6 } }).outcomes(nudge({ axes, awaits: null }));
  expect([outcomes(['absence']), outcomes(['absence', 'repetition'])]).toEqual([['superseded'], ['delivered']]);
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
