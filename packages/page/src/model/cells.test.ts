import { expect, test } from 'vitest';
import { cellsOf } from './cells.ts';

test('each row is a cell, in any order of its fields, with its set of labels', () => {
  const answer = {
    fields: ['state', 'agentId', 'labels', 'unhealthy'],
    agents: [
      ['STUCK', 'a', 1, true],
      ['HEALTHY', 'b', 0, false],
    ],
    labels: [{}, { team: 'ops' }],
  };
  expect(cellsOf(answer)).toEqual([
    { agentId: 'a', state: 'STUCK', labels: { team: 'ops' }, unhealthy: true },
    { agentId: 'b', state: 'HEALTHY', labels: {}, unhealthy: false },
  ]);
});
