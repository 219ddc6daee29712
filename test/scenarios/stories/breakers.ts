import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import type { Role, Stage } from '../stage.ts';

/** Failing calls, for which the agent is not ended. */
export const roles: readonly Role[] = [{ name: 'tripped', part: 'failsEachCall', policy: 'gastown' }];

const { agentHealth, agentOrder } = Topic;

/** gc #1700, #2541: cleared, it was open again at once, or never again. Closed by a person it counts from nothing. */
export const closedByPeople = async ({ all, comes, runs, types, isAlive }: Stage): Promise<void> => {
  expect(await comes(agentHealth, 'tripped', 'CIRCUIT_BREAKER_STATE_CHANGED')).toMatchObject({
    to: 'OPEN',
    failures: 5,
  });
  await runs('breaker', 'reset', 'tripped', 'tool_execution');
  expect(await comes(agentHealth, 'tripped', 'CIRCUIT_BREAKER_STATE_CHANGED', 3)).toMatchObject({
    to: 'OPEN',
    failures: 5,
  });
  const changes = all(agentHealth, 'tripped', 'CIRCUIT_BREAKER_STATE_CHANGED').map(({ from, to }) => `${from} ${to}`);
  expect(changes).toEqual(['CLOSED OPEN', 'OPEN CLOSED', 'CLOSED OPEN']);
  expect(types(agentOrder, 'tripped')).toEqual([]);
  expect(isAlive('tripped')).toBe(true);
};
