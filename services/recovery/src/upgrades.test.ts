import { upgraded } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { processor } from './processor.ts';
import { initial } from './task/state.ts';

test('a state with the names of shape 7 is read; names in labels stay', () => {
  const { kind: _, ...situation } = { kind: 'requesting', requestId: 'r1', immediate: false, withheld: 0, why: 'x' };
  const { observedAt: __, revived: ___, takenBy: ____, endAwaited, emitsHealthcheck, emitted, ...rest } = initial;
  const labels = { is: 'kept', emitted: 'kept' };
  const older = {
    ...rest,
    subject: { agentId: 'a', labels },
    heardAt: 5,
    situation: { ...situation, is: 'asking', impossible: { reason: 'x', isSaid: true }, isWaitingSaid: true },
    risen: ['a.i1'],
    took: ['b.i1'],
    unwanted: endAwaited,
    emits: emitsHealthcheck,
    emitted: { breaker: 'CLOSED', healthcheck: null, asked: [{ life: 'a.i1', at: 5, times: 1 }] },
  };
  expect(upgraded(processor.atRest, 7, older)).toEqual({
    ...initial,
    subject: { agentId: 'a', labels },
    observedAt: 5,
    situation: {
      ...situation,
      kind: 'requesting',
      impossible: { reason: 'x', isReported: true },
      isWaitingReported: true,
    },
    revived: ['a.i1'],
    takenBy: ['b.i1'],
    emitted: { ...emitted, endRequests: [{ instance: 'a.i1', at: 5, times: 1 }] },
  });
});
