import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { createAgentRequests } from './agent-requests.ts';

const opened = (requestId: string, heldBy = 'gateway:a') =>
  example(Topic.agentRequest, 'REQUEST_OPENED', { requestId, heldBy });
const answered = (requestId: string) => example(Topic.agentRequest, 'REQUEST_ANSWERED', { requestId, option: 'allow' });

test('the newest record of a request counts, in any order of reading', () => {
  const forwards = createAgentRequests(10);
  forwards.observe(opened('r-1'), 4);
  forwards.observe(answered('r-1'), 5);
  const backwards = createAgentRequests(10);
  backwards.observe(answered('r-1'), 5);
  backwards.observe(opened('r-1'), 4);
  for (const requests of [forwards, backwards]) expect(requests.find('r-1')).toMatchObject({ kind: 'answered' });
  expect(forwards.find('r-2')).toBeNull();
});

test('the open requests of an ingress are those whose hook waits there now', () => {
  const requests = createAgentRequests(10);
  requests.observe(opened('r-1'), 1);
  requests.observe(opened('r-2'), 2);
  requests.observe(opened('r-3', 'gateway:b'), 3);
  requests.observe(answered('r-2'), 4);
  expect(requests.openAt('gateway:a').map(({ requestId }) => requestId)).toEqual(['r-1']);
  requests.observe(opened('r-1', 'gateway:b'), 5);
  expect(requests.openAt('gateway:a')).toEqual([]);
});

test('a refused answer changes nothing', () => {
  const requests = createAgentRequests(10);
  requests.observe(opened('r-1'), 1);
  requests.observe(example(Topic.agentRequest, 'ANSWER_REFUSED', { requestId: 'r-1' }), 2);
  expect(requests.find('r-1')).toMatchObject({ kind: 'open' });
});

test('of more than the limit those that were seen first are forgotten', () => {
  const requests = createAgentRequests(100);
  for (let n = 0; n < 1000; n += 1) requests.observe(opened(`r-${n}`), n);
  expect(requests.openAt('gateway:a')).toHaveLength(100);
  expect(requests.find('r-999')).toMatchObject({ kind: 'open' });
  expect(requests.find('r-899')).toBeNull();
});
