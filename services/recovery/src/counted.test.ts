import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { countDecided } from './counted.ts';

test('events of recoveries and orders are counted; a request to the governor is not', () => {
  const lines: string[] = [];
  const count = countDecided((name, by, labels) => lines.push([name, by, ...Object.values(labels)].join(' ')));
  count([
    example(Topic.taskRecovery, 'RECOVERY_INITIATED'),
    example(Topic.agentOrder, 'SPAWN_AGENT'),
    example(Topic.admitStep, 'ADMIT_SPAWN'),
  ]);
  expect(lines).toEqual(['recoveries 1 RECOVERY_INITIATED', 'orders 1 SPAWN_AGENT']);
});
