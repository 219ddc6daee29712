import { Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import { topicsWritten } from './topology.ts';

test('a processor writes its events, its states, and the dead letters of its service', () => {
  const recovery = { processor: 'recovery', service: 'recovery', writes: [Topic.taskRecovery] };
  expect(topicsWritten(recovery).toSorted()).toEqual(
    [Topic.taskRecovery, Topic.snapshotRecovery, Topic.dlqRecovery].toSorted(),
  );
});

test('processors of one service name each topic once', () => {
  const cases = { processor: 'intervention-cases', service: 'intervention', writes: [Topic.admitStep] };
  const spending = { processor: 'intervention-spending', service: 'intervention', writes: [Topic.spending] };
  expect(topicsWritten(cases, spending).filter((topic) => topic === Topic.dlqIntervention)).toHaveLength(1);
});
