import { expect, test } from 'vitest';
import { healthy, judged, other, stuck } from './recorded.fixture.ts';

test('a call whose start is known is in flight from then on, and overdue after its deadline', () => {
  const long = { ...other(2), started_at: 5, ts: 500, deadline_at: 600 };
  expect(judged([{ ...other(1), ts: 0 }, long]).changes).toEqual([]);
  expect(
    judged([
      { ...other(1), ts: 0 },
      { ...long, deadline_at: 30 },
    ]).changes,
  ).toEqual([stuck(1, 40.001, 'call_overdue'), healthy(2, 500)]);
});

test('a call that was recorded as running is overdue until its end', () => {
  const running = { ...other(1), ts: 0, call_id: 'c', outcome: 'running', deadline_at: 20 };
  expect(judged([running, { ...other(1), ts: 90, call_id: 'c' }]).changes).toEqual([
    stuck(1, 30.001, 'call_overdue'),
    healthy(2, 90),
  ]);
});

const begun = (n: number, more: object = {}) => ({ ...other(n), outcome: 'running', ts: 0, deadline_at: 20, ...more });

test('without call_id, a later entry of the same tool and arguments ends the running call', () => {
  expect(
    judged([begun(1), { ...other(1), ts: 29 }, { ...other(2), ts: 60 }, { ...other(3), ts: 110 }]).changes,
  ).toEqual([]);
  expect(judged([begun(1), { ...other(1), ts: 90, err: true }, { ...other(2), ts: 91 }]).changes).toEqual([
    stuck(1, 30.001, 'call_overdue'),
    healthy(2, 90),
  ]);
  const unknown = { tool: 'bash', ts: 0, outcome: 'running', deadline_at: 20 };
  expect(judged([unknown, { tool: 'bash', result: 'a', ts: 29 }, { ...other(2), ts: 60 }]).changes).toEqual([]);
});

test('a running call that is reported as running again is one call, with one end', () => {
  const calls = [begun(1), begun(1, { ts: 10 }), { ...other(1), ts: 29 }, { ...other(2), ts: 60 }];
  expect(judged(calls).changes).toEqual([]);
});

test.each([
  ['another tool', { ...other(1), tool: 'python' }],
  ['other arguments', other(2)],
  ['a call_id', { ...other(1), call_id: 'c' }],
])('an entry with %s ends no other call', (_, end) => {
  expect(judged([begun(1), { ...end, ts: 29 }, { ...other(3), ts: 60 }]).changes).toEqual([
    stuck(2, 30.001, 'call_overdue'),
  ]);
});

test('calls that are each recorded with start and end are overdue separately, even if they are equal', () => {
  const long = { ...other(1), started_at: 0, ts: 90, deadline_at: 20 };
  const short = { ...other(1), started_at: 0, ts: 5, deadline_at: 20 };
  expect(judged([short, long]).changes).toEqual([stuck(1, 30.001, 'call_overdue'), healthy(2, 90)]);
});
