import { expect, test } from 'vitest';
import {
  BEHIND_MS,
  BROKER,
  beginning,
  type Instant,
  knowledgeOf,
  probed,
  projected,
  STILL_MS,
  STILL_WITHOUT_BROKER_MS,
} from './knowledge.ts';

const T0 = 1_000_000;
/** So many milliseconds after the begin; the wall clock of this host is `aheadMs` ahead of the log's time. */
const after = (ms: number, aheadMs = 0): Instant => ({ now: T0 + aheadMs + ms, monotonic: ms });

test('answers are current while the rows advance, and blind once they have stood for longer than four seconds', () => {
  const seen = projected(beginning(after(0)), T0, after(0));
  expect(knowledgeOf(seen, after(STILL_MS))).toEqual({ upTo: T0, blindSince: null, away: [] });
  expect(knowledgeOf(seen, after(STILL_MS + 1))).toMatchObject({ upTo: T0, blindSince: T0 });
  expect(knowledgeOf(projected(seen, T0 + 1000, after(STILL_MS)), after(STILL_MS + 1)).blindSince).toBeNull();
});

test('rows that have stood for longer than two seconds are old where the broker does not answer, and it alone blinds no view', () => {
  const seen = probed(projected(beginning(after(0)), T0, after(0)), BROKER, 'no answer', after(10));
  expect(knowledgeOf(seen, after(STILL_WITHOUT_BROKER_MS)).blindSince).toBeNull();
  expect(knowledgeOf(seen, after(STILL_WITHOUT_BROKER_MS + 1)).blindSince).toBe(T0);
});

test('the same answer of the read model does not count as an advance', () => {
  const seen = projected(beginning(after(0)), T0, after(0));
  expect(knowledgeOf(projected(seen, T0, after(STILL_MS)), after(STILL_MS + 1)).blindSince).toBe(T0);
});

test('a read model that has no rows yet is blind from the begin of the look-out', () => {
  const seen = projected(beginning(after(0)), null, after(0));
  expect(knowledgeOf(seen, after(STILL_MS)).blindSince).toBeNull();
  expect(knowledgeOf(seen, after(STILL_MS + 1)).blindSince).toBe(T0);
});

test('rows that advance and are more than fifteen seconds behind are old; clocks of hosts differ by less', () => {
  const seen = (aheadMs: number) => projected(beginning(after(0, aheadMs)), T0, after(0, aheadMs));
  expect(knowledgeOf(seen(BEHIND_MS), after(0, BEHIND_MS)).blindSince).toBeNull();
  expect(knowledgeOf(seen(BEHIND_MS + 1), after(0, BEHIND_MS + 1)).blindSince).toBe(T0);
});

test('a part that does not answer is away since its first failure, until it answers', () => {
  const once = probed(beginning(after(0)), 'alerting', 'refused', after(10));
  const twice = probed(once, 'alerting', 'no answer', after(20));
  expect(knowledgeOf(twice, after(30)).away).toEqual([{ part: 'alerting', since: T0 + 10, detail: 'no answer' }]);
  expect(knowledgeOf(probed(twice, 'alerting', null, after(30)), after(30)).away).toEqual([]);
});

test.each([
  ['postgres', T0 + 10],
  ['gateway', T0 + 10],
  ['heartbeat-ingest', T0 + 10],
  ['health-evaluator', T0 + 10],
  ['projector', T0 + 10],
  ['alerting', null],
  ['intervention', null],
])('without %s, the answers are old since %s', (part, since) => {
  const seen = probed(projected(beginning(after(0)), T0, after(0)), part, 'refused', after(10));
  expect(knowledgeOf(seen, after(20)).blindSince).toBe(since);
});
