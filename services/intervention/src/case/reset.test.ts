import { expect, test } from 'vitest';
import { agent, filed, nudge, resetAsked, started } from './story.fixture.ts';

test('a breaker that its caller holds is reset by an order with the next number, without case or ruling', () => {
  const one = agent();
  one.receive(started('worker-1.i1'));
  expect(one.drafts({ ...resetAsked(), correlationId: 'c-9' })).toMatchObject([
    {
      type: 'RESET_BREAKER',
      key: 'worker-1',
      correlationId: 'c-9',
      payload: {
        ...{ orderId: 'reset-event-2', number: 1, agentId: 'worker-1', instanceId: 'worker-1.i1', runtimeId: 'host-1' },
        ...{ caseId: null, ttlMs: 60_000, name: 'tool_execution' },
      },
    },
  ]);
  expect(one.receive(resetAsked())).toEqual(['order 2 RESET_BREAKER']);
  expect(one.situation()).toBe('quiet');
});

test('an open case continues beside it, and its next order has the number after', () => {
  const one = agent();
  one.receive(filed([nudge]));
  expect(one.admit()).toContain('order 1 NUDGE_AGENT');
  expect(one.receive(resetAsked())).toEqual(['order 2 RESET_BREAKER']);
  expect(one.situation()).toBe('open');
  one.after(nudge.intervalMs);
  expect(one.admit()).toContain('order 3 NUDGE_AGENT');
});

test('what was asked of a previous instance orders nothing', () => {
  const one = agent();
  one.receive(started('worker-1.i1'));
  one.receive(started('worker-1.i2'));
  expect(one.receive(resetAsked('worker-1.i1'))).toEqual([]);
});
