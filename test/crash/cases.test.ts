import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { casesTooMany } from './cases.ts';

const opened = (version: number, caseId: string) => ({
  ...example(Topic.agentIntervention, 'CASE_OPENED', { caseId, warrantId: 'w' }),
  version,
});
const closed = (version: number, caseId: string, ending: 'withheld' | 'executed') => ({
  ...example(Topic.agentIntervention, 'CASE_CLOSED', { caseId, ending }),
  version,
});

test('a warrant opens one case; a second one only after the first was withheld', () => {
  expect(casesTooMany([opened(1, 'a')])).toEqual([]);
  expect(casesTooMany([opened(1, 'a'), closed(2, 'a', 'withheld'), opened(3, 'a-2')])).toEqual([]);
});

test('a second case beside an open one, or after one that was worked through, is one too many', () => {
  expect(casesTooMany([opened(1, 'a'), opened(2, 'a-2')])).toEqual(['w: a-2 beside a']);
  expect(casesTooMany([opened(1, 'a'), opened(2, 'a-2'), closed(3, 'a', 'withheld')])).toEqual(['w: a-2 beside a']);
  expect(casesTooMany([opened(1, 'a'), closed(2, 'a', 'executed'), opened(3, 'a-2')])).toEqual(['w: a-2 beside a']);
});
