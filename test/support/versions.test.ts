import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { versionsOf } from './versions.ts';

const written = (version: number | null, more: object = {}) => ({
  ...example(Topic.agentHealth, 'INSTANCE_STARTED'),
  stateKey: 'worker-1',
  epoch: 7,
  version,
  ...more,
});
const order = (type: 'TERMINATE_AGENT' | 'SPAWN_AGENT', version: number) => ({
  ...example(Topic.agentOrder, type),
  stateKey: 'worker-1',
  epoch: 7,
  version,
});

test('versions that continue across several topics have no gaps and no repeats', () => {
  const task = { ...example(Topic.taskHealth, 'TASK_HEALTH_CHANGED'), stateKey: 'worker-1', epoch: 7, version: 2 };
  expect(versionsOf([written(3), written(1), task])).toMatchObject({ events: 3, keys: 1, gaps: [], repeats: [] });
});

test('a missing version, also the first, is a gap; a repeated one is a repeat', () => {
  expect(versionsOf([written(2), written(4)]).gaps).toEqual([
    'health-evaluator worker-1@7: 1',
    'health-evaluator worker-1@7: 3',
  ]);
  expect(versionsOf([written(1), written(1)])).toMatchObject({ gaps: [], repeats: ['health-evaluator worker-1@7: 1'] });
});

test('each epoch counts from 1, and events without a decider do not count', () => {
  expect(versionsOf([written(1), written(1, { epoch: 8 }), written(null)])).toMatchObject({
    events: 2,
    gaps: [],
    repeats: [],
  });
});

test('two deciders that share a topic and a key are counted separately', () => {
  expect(versionsOf([order('TERMINATE_AGENT', 1), order('SPAWN_AGENT', 1)])).toMatchObject({ repeats: [], gaps: [] });
});

test('a withdrawn request counts for its author: a case, or recovery', () => {
  const withdrawn = (requestId: string, version: number, stateKey: string) => ({
    ...example(Topic.admitStep, 'WITHDRAW_STEP', { caseId: 'case-1', requestId }),
    ...{ stateKey, epoch: 7, version },
  });
  const spawn = { ...example(Topic.admitStep, 'ADMIT_SPAWN'), stateKey: 'T-1', epoch: 7, version: 1 };
  const step = { ...example(Topic.admitStep, 'ADMIT_STEP'), stateKey: 'worker-1', epoch: 7, version: 1 };
  const all = [spawn, withdrawn('e1-1', 2, 'T-1'), step, withdrawn('case-1-r1', 2, 'worker-1')];
  expect(versionsOf(all)).toMatchObject({ events: 4, keys: 2, gaps: [], repeats: [] });
});
