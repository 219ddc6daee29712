import type { StoredLetter } from '@vigil/stream';
import { expect, test } from 'vitest';
import { VIEW } from '../render/rows.fixture.ts';
import { checkService, isWanted, replayedLines } from './dead-letters.ts';

const letter: StoredLetter = {
  id: 'onex.dlq.intervention.dead-letter.v1/0/3',
  service: 'intervention',
  failedAt: 1000,
  reason: 'undecided',
  error: 'Error: x',
  original: {
    position: 'onex.evt.a.v1/0/7',
    topic: 'onex.evt.a.v1',
    key: 'worker-1',
    value: null,
    isTruncated: false,
    timestamp: 900,
  },
  leftOut: 0,
  replayedAt: null,
};
const ALL = { rate: 10 };

test('every filter must hold, and both ends of a period are within it', () => {
  expect(isWanted([], ALL)(letter)).toBe(true);
  expect(isWanted([letter.id], { ...ALL, service: 'intervention', reason: 'undecided', key: 'worker-1' })(letter)).toBe(
    true,
  );
  expect(isWanted([], { ...ALL, topic: 'onex.evt.a.v1', since: 1000, until: 1000 })(letter)).toBe(true);
  for (const other of [
    { service: 'a' },
    { topic: 'a' },
    { reason: 'a' },
    { key: 'a' },
    { since: 1001 },
    { until: 999 },
  ])
    expect(isWanted([letter.id], { ...ALL, ...other })(letter)).toBe(false);
  expect(isWanted(['another'], ALL)(letter)).toBe(false);
});

test('a service that does not exist is refused with the names of those that do, and none is needed', () => {
  expect(() => checkService('nosuch')).toThrow(/--service "nosuch": no such service; give one of .*intervention/);
  checkService('heartbeat-ingest');
  checkService(undefined);
});

test('each dead letter is shown with its outcome, and a dry run writes nothing', () => {
  const row = {
    id: 'dlq/0/3',
    service: 'a',
    topic: 't',
    key: 'worker-1',
    reason: 'undecided',
    failed_at: 0,
    refusal: null,
  };
  const refused = { ...row, id: 'dlq/0/4', refusal: 'its record has no value' };
  const [first, second, counts] = replayedLines(VIEW, [row, refused], true, false);
  expect(first).toContain('dlq/0/3  worker-1 of t (undecided): would be written');
  expect(second).toContain('refused: its record has no value');
  expect(counts).toBe('1 would be written to their topics, 1 refused.');
  expect(replayedLines(VIEW, [row], false, true).slice(-2)).toEqual([
    '1 written to their topics, 0 refused.',
    'Stopped. Start it again to continue: none is written twice.',
  ]);
  expect(replayedLines(VIEW, [], false, false)).toEqual(['No dead letter is within these filters.']);
});
