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

test('cells are by name, and numbers in names by their value', () => {
  const agents = ['w-10', 'w-1', 'v-11', 'w-2'].map((name) => [name]);
  const cells = cellsOf({ fields: ['agentId'], agents, labels: [] });
  expect(cells.map(({ agentId }) => agentId)).toEqual(['v-11', 'w-1', 'w-2', 'w-10']);
});
