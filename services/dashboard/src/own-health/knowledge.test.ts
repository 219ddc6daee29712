import { SAME_OUTAGE_MS } from '@vigil/read-model/knowledge';
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

test('answers are current while the rows advance, and blind once they have stood for longer than three seconds', () => {
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

test('a part that never answered is away since its first failure, until it answers', () => {
  const once = probed(beginning(after(0)), 'alerting', 'refused', after(10));
  const twice = probed(once, 'alerting', 'no answer', after(20));
  expect(knowledgeOf(twice, after(30)).away).toEqual([{ part: 'alerting', since: T0 + 10, detail: 'no answer' }]);
  expect(knowledgeOf(probed(twice, 'alerting', null, after(30)), after(30)).away).toEqual([]);
});

test.each([
  ['postgres', T0],
  ['gateway', T0],
  ['heartbeat-ingest', T0],
  ['health-evaluator', T0],
  ['projector', T0],
  ['alerting', null],
  ['intervention', null],
])('without %s, the answers are old since %s', (part, since) => {
  const seen = probed(projected(beginning(after(0)), T0, after(0)), part, 'refused', after(10));
  expect(knowledgeOf(seen, after(20)).blindSince).toBe(since);
});

test('a part is away since it last answered well', () => {
  const well = probed(beginning(after(0)), 'alerting', null, after(1000));
  const away = probed(well, 'alerting', 'no answer', after(2900));
  expect(knowledgeOf(away, after(2900)).away).toMatchObject([{ part: 'alerting', since: T0 + 1000 }]);
});

/** The rows stand from T0 on, and then a part is found away: since when each is reported. */
const failing = (awayAfterMs: number) => {
  const seen = projected(probed(beginning(after(0)), 'gateway', null, after(awayAfterMs)), T0, after(0));
  return knowledgeOf(probed(seen, 'gateway', 'no answer', after(awayAfterMs + 10)), after(awayAfterMs + 20_000));
};

test('a part that fails with the rows is of the same outage, five seconds apart at most; one that fails later has a time of its own', () => {
  expect(failing(SAME_OUTAGE_MS)).toMatchObject({ blindSince: T0, away: [{ since: T0 }] });
  expect(failing(SAME_OUTAGE_MS + 1)).toMatchObject({ blindSince: T0, away: [{ since: T0 + SAME_OUTAGE_MS + 1 }] });
});

test('the begin of an outage does not move while it lasts, and the next outage has its own', () => {
  const first = probed(projected(beginning(after(0)), T0, after(0)), 'projector', 'no answer', after(10));
  const later = probed(first, 'postgres', 'no answer', after(60_000));
  expect(knowledgeOf(later, after(70_000)).blindSince).toBe(T0);
  const partly = probed(later, 'projector', null, after(80_000));
  expect(knowledgeOf(partly, after(80_000)).blindSince).toBe(T0);
  const back = projected(probed(partly, 'postgres', null, after(90_000)), T0 + 90_000, after(90_000));
  expect(knowledgeOf(back, after(90_000))).toMatchObject({ blindSince: null, away: [] });
  const again = probed(back, 'postgres', 'no answer', after(95_000));
  expect(knowledgeOf(again, after(95_000)).blindSince).toBe(T0 + 90_000);
});
