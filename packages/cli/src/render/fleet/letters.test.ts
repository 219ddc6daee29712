import type { DeadLetterRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { NOON, VIEW } from '../rows.fixture.ts';
import { letterLines, lettersTable } from './letters.ts';

const letter = (more: Partial<DeadLetterRow> = {}): DeadLetterRow => ({
  eventId: 'letter-1',
  service: 'health-evaluator',
  originalTopic: 'vigil.evt.agent-observation.v1',
  originalPartition: 2,
  originalOffset: 41,
  originalKey: 'worker-1',
  preview: '{"agent',
  truncated: true,
  reason: 'its schema is unknown',
  errorType: 'UnknownSchema',
  leftOut: 0,
  failedAt: NOON,
  ...more,
});

test('a dead letter has its id, its time, its service, the place of its record and the reason', () => {
  expect(lettersTable(VIEW, [letter()])[1]).toMatch(
    /^letter-1 +12:00:00 +health-evaluator +vigil\.evt\.agent-observation\.v1\/2 @ 41 +its schema is unknown$/,
  );
  expect(lettersTable(VIEW, [letter({ failedAt: null })])[1]).toMatch(/^letter-1 +- /);
  expect(lettersTable(VIEW, [])).toEqual(['No dead letters.']);
});

test('one dead letter shows how its record begins, and what a minute has left out', () => {
  expect(letterLines(VIEW, letter())).toEqual([
    'letter-1 of health-evaluator',
    '  record     vigil.evt.agent-observation.v1/2 @ 41, key worker-1',
    '  time       12:00:00',
    '  why        its schema is unknown (UnknownSchema)',
    '  begins     {"agent …',
  ]);
  expect(letterLines(VIEW, letter({ leftOut: 3 }))).toContain(
    '  more       3 others of the same minute have no dead letter',
  );
  expect(letterLines(VIEW, letter({ truncated: false, preview: null }))).toContain('  begins     -');
});
