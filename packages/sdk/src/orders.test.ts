import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import type { ReceivedCommand } from './commands.ts';
import { testSystem } from './fixture.ts';
import { type Envelope, Orders } from './orders.ts';
import { type Marks, noProgress } from './report/progress.ts';
import type { TransportDeps } from './transport/transport.ts';

const about = { agentId: 'worker-1', instanceId: 'run-1', runtimeId: '', axes: ['absence'], foldedSequence: 5 };
const saved = { awaits: [['checkpoint' as const]] };

type Nudge = Extract<Envelope, { readonly type: 'NUDGE_AGENT' }>['payload'];
const nudge = (payload: Partial<Nudge> = {}, expiresInMs = 1000): Envelope => ({
  type: 'NUDGE_AGENT',
  payload: example(Topic.agentOrder, 'NUDGE_AGENT', { ...about, orderId: 'o-1', number: 1, message: 'm', ...payload })
    .payload,
  expiresInMs,
});

const orders = ({ marks = {} as Marks, listens = true } = {}) => {
  const received: ReceivedCommand[] = [];
  const who = { agentId: 'worker-1', instanceId: 'run-1', taskId: null, runtimeId: null, attempt: null };
  const line: TransportDeps = {
    identity: { ...who, maxAttempts: null, policy: null, labels: {} },
    system: testSystem(),
    deliver: (one) => {
      received.push(one);
      return listens;
    },
    progress: () => ({ ...noProgress, marks }),
    onProblem: () => {},
  };
  const all = new Orders(line);
  return { received, outcomes: (...given: Envelope[]) => all.handle(given).map(({ outcome }) => outcome) };
};

test('an order is delivered once, and answered with the same receipt each time it is offered', () => {
  const { received, outcomes } = orders();
  expect([outcomes(nudge()), outcomes(nudge()), outcomes(nudge())]).toEqual([
    ['delivered'],
    ['delivered'],
    ['delivered'],
  ]);
  expect(received).toEqual([{ kind: 'nudge', message: 'm' }]);
});

test('orders are handled by their number; one that comes after a higher one is superseded', () => {
  const { received, outcomes } = orders();
  outcomes(
    nudge({ orderId: 'o-3', number: 3, message: 'three' }),
    nudge({ orderId: 'o-2', number: 2, message: 'two' }),
  );
  expect(received).toMatchObject([{ message: 'two' }, { message: 'three' }]);
  expect(outcomes(nudge({ number: 1 }))).toEqual(['superseded']);
  expect(outcomes(nudge({ orderId: 'o-4', number: 3 }))).toEqual(['superseded']);
  expect(outcomes(nudge({ orderId: 'o-5', number: 4 }))).toEqual(['delivered']);
});

test('an order for another instance, or an expired one, is answered but not delivered; one for another agent is not answered', () => {
  const { received, outcomes } = orders();
  expect(outcomes(nudge({ instanceId: 'run-0' }))).toEqual(['superseded']);
  expect(outcomes(nudge({ orderId: 'o-2' }, 0))).toEqual(['expired']);
  expect(outcomes(nudge({ orderId: 'o-3', agentId: 'worker-2' }))).toEqual([]);
  expect(received).toEqual([]);
});

test('an order is superseded by the signal that its finding awaits, not by anything else', () => {
  expect(orders({ marks: { checkpoint: 6 } }).outcomes(nudge(saved))).toEqual(['superseded']);
  expect(orders({ marks: { checkpoint: 5 } }).outcomes(nudge(saved))).toEqual(['delivered']);
  expect(orders({ marks: { call: 6, activity: 6, heartbeat: 6 } }).outcomes(nudge(saved))).toEqual(['delivered']);
  expect(orders({ marks: { checkpoint: 6 } }).outcomes(nudge({ ...saved, foldedSequence: null }))).toEqual([
    'delivered',
  ]);
});

test('when a finding does not name what it awaits, any activity overtakes silence', () => {
  const outcomes = (axes: string[]) => orders({ marks: { activity: 6 } }).outcomes(nudge({ axes, awaits: null }));
  expect([outcomes(['absence']), outcomes(['absence', 'repetition'])]).toEqual([['superseded'], ['delivered']]);
});

test('without a listener an order fails', () =>
  expect(orders({ listens: false }).outcomes(nudge())).toEqual(['failed']));

test('orders that only a runtime can carry out are left to it; the others are understood', () => {
  const { received, outcomes } = orders();
  const order = (
    type: 'PROBE_AGENT' | 'HANDOFF_AGENT' | 'RESET_BREAKER' | 'TERMINATE_AGENT',
    number: number,
  ): Envelope => {
    const { payload } = example(Topic.agentOrder, type, { ...about, orderId: type, number });
    return { type, payload, expiresInMs: 1 } as Envelope;
  };
  const kinds = ['PROBE_AGENT', 'HANDOFF_AGENT', 'RESET_BREAKER', 'TERMINATE_AGENT'] as const;
  expect(outcomes(...kinds.map(order))).toEqual(['delivered', 'delivered', 'done']);
  expect(received.map(({ kind }) => kind)).toEqual(['probe', 'handoff', 'reset_breaker']);
});
