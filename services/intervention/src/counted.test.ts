import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { countDecided } from './counted.ts';

const counted = (...drafts: Parameters<ReturnType<typeof countDecided>>[0]) => {
  const lines: string[] = [];
  countDecided((name, by, labels) => lines.push([name, by, ...Object.values(labels)].join(' ')))(drafts);
  return lines;
};

test('an order is counted by its type, a case when it opens and when it ends, a step by its ruling', () => {
  const { agentOrder, agentIntervention, stepRuling } = Topic;
  expect(
    counted(
      example(agentOrder, 'NUDGE_AGENT'),
      example(agentIntervention, 'CASE_OPENED'),
      example(agentIntervention, 'CASE_CLOSED', { ending: 'pardoned' }),
      example(stepRuling, 'STEP_ADMITTED', { step: 'nudge' }),
      example(stepRuling, 'STEP_WITHHELD', { step: 'terminate', why: 'halted' }),
    ),
  ).toEqual([
    'orders 1 NUDGE_AGENT',
    'cases_opened 1',
    'cases_closed 1 pardoned',
    'steps_admitted 1 nudge',
    'steps_withheld 1 terminate halted',
  ]);
});

test('a nudge that was sent does not count as a second order', () => {
  expect(counted(example(Topic.agentIntervention, 'NUDGE_SENT'))).toEqual([]);
});
