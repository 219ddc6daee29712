import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { casesTooMany } from './cases.ts';

const opened = (caseId: string, warrantId: string | null = 'w') =>
  example(Topic.agentIntervention, 'CASE_OPENED', { caseId, warrantId });

test("a warrant opens one case, and another warrant its own; a person's request has none", () => {
  expect(casesTooMany([opened('a'), opened('b', 'v'), opened('c', null), opened('d', null)])).toEqual([]);
});

test('a second case of one warrant is one too many, also when the first is closed', () => {
  const closed = example(Topic.agentIntervention, 'CASE_CLOSED', { caseId: 'a', ending: 'withheld' });
  expect(casesTooMany([opened('a'), closed, opened('a-2')])).toEqual(['w: a-2 beside a']);
});

test('a second case of one warrant is right after the first has expired, and too many beside it', () => {
  const expired = example(Topic.agentIntervention, 'CASE_CLOSED', { caseId: 'a', warrantId: 'w', ending: 'expired' });
  expect(casesTooMany([opened('a'), expired, opened('a-2')])).toEqual([]);
  expect(casesTooMany([opened('a'), opened('a-2'), expired])).toEqual(['w: a-2 beside a']);
});
