import { expect, test } from 'vitest';
import { fromEnvironment } from './connect.ts';

test('what the environment does not name stays as the agent set it', () => {
  const own = { agentId: 'worker-3', taskId: 'OMN-1236', attempt: 2, over: undefined };

  expect({ ...own, ...fromEnvironment({ VIGIL_TASK_ID: '' }) }).toEqual(own);
  expect(Object.keys(fromEnvironment({ VIGIL_TASK_ID: '' }))).toEqual([]);
});

test('the environment names the agent, its task and its attempt', () => {
  const env = { VIGIL_AGENT_ID: 'worker-1', VIGIL_TASK_ID: 'OMN-1', VIGIL_ATTEMPT: '3' };

  expect(fromEnvironment(env)).toEqual({ agentId: 'worker-1', taskId: 'OMN-1', attempt: 3 });
});
