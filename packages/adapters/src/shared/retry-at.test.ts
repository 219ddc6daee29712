import { expect, test } from 'vitest';
import { retryAtLocal, retryAtOf } from './failure.ts';

const now = Date.parse('2026-11-23T12:00:00Z');
const at = (text: string): string | null => {
  const found = retryAtOf(text, now);
  return found === null ? null : new Date(found).toISOString();
};

test.each([
  ['429 {"error":"slow down"} retry-after: 6', '2026-11-23T12:00:06.000Z'],
  ['Please retry in 31.5s.', '2026-11-23T12:00:31.500Z'],
  ['Please retry in 250ms.', '2026-11-23T12:00:00.250Z'],
  ['Usage limit reached. Try again in 2 hours 5 minutes.', '2026-11-23T14:05:00.000Z'],
  ['Your quota will reset after 5h20m10s.', '2026-11-23T17:20:10.000Z'],
  ['Claude AI usage limit reached|1795440000', '2026-11-23T13:20:00.000Z'],
  ['{"type":"usage_limit_reached","resets_at":1795440000}', '2026-11-23T13:20:00.000Z'],
  ['limit resets at 2026-11-24T05:00:00Z', '2026-11-24T05:00:00.000Z'],
])('%s ends at %s', (text, when) => {
  expect(at(text)).toBe(when);
});

test.each([
  ["You've hit your session limit · resets 3pm (UTC)", '2026-11-23T15:00:00.000Z'],
  ["You've hit your session limit · resets 3:45pm (Europe/Berlin)", '2026-11-23T14:45:00.000Z'],
  ['limit · resets 11am (UTC)', '2026-11-24T11:00:00.000Z'],
  ['limit · resets 12am (UTC)', '2026-11-24T00:00:00.000Z'],
  ["You've hit your weekly limit · resets Nov 25, 3pm (UTC)", '2026-11-25T15:00:00.000Z'],
  ['limit · resets Jan 2, 2027, 9am (UTC)', '2027-01-02T09:00:00.000Z'],
  ['limit · resets Jan 2, 9am (UTC)', '2027-01-02T09:00:00.000Z'],
])('a time of day is read in its time zone: %s', (text, when) => {
  expect(at(text)).toBe(when);
});

test.each([
  'retry-after: 99999999999999999999',
  'API Error: 529 overloaded',
  'resets 3pm',
  'resets 3pm (Nowhere/Land)',
  'resets Foo 3, 3pm (UTC)',
  '',
])('a text without a time is unknown: %s', (text) => {
  expect(at(text)).toBeNull();
});

const atLocal = (text: string, zone: string, when = now): string | null => {
  const found = retryAtLocal(text, when, () => zone);
  return found === null ? null : new Date(found).toISOString();
};

test.each([
  ['Upgrade to Pro, or try again at 3:45 PM.', 'UTC', '2026-11-23T15:45:00.000Z'],
  ['or try again at 3:45 PM.', 'Europe/Berlin', '2026-11-23T14:45:00.000Z'],
  ['or try again at 3:45 PM.', 'America/New_York', '2026-11-23T20:45:00.000Z'],
  ['or try again at 12:05 AM.', 'UTC', '2026-11-24T00:05:00.000Z'],
  ['or try again at 12:01 PM.', 'UTC', '2026-11-23T12:01:00.000Z'],
  ['or try again at 11:59 AM.', 'UTC', '2026-11-24T11:59:00.000Z'],
  ['Try again at Nov 25th, 2026 3:45 PM.', 'UTC', '2026-11-25T15:45:00.000Z'],
  ['Try again at Nov 25th, 2026 3:45 PM.', 'Asia/Tokyo', '2026-11-25T06:45:00.000Z'],
  ['Try again at Dec 1st, 2026 9:00 AM.', 'Europe/Berlin', '2026-12-01T08:00:00.000Z'],
])('%s in %s is %s', (text, zone, when) => {
  expect(atLocal(text, zone)).toBe(when);
});

test('a limit that ends within the present minute does not end on the next day', () => {
  expect(atLocal('try again at 12:00 PM.', 'UTC', now + 59_999)).toBe('2026-11-23T12:00:00.000Z');
  expect(atLocal('try again at 12:00 PM.', 'UTC', now + 60_000)).toBe('2026-11-24T12:00:00.000Z');
});

test('a past time of day moved to the next day respects a change of the clocks', () => {
  const evening = Date.parse('2026-10-24T20:00:00Z');
  expect(atLocal('try again at 9:00 AM.', 'Europe/Berlin', evening)).toBe('2026-10-25T08:00:00.000Z');
});

test.each(['try again at Foo 5th, 2026 3:45 PM.', 'try again at noon', 'try again at 3:45', 'try again later'])(
  'a time that cannot be read is unknown: %s',
  (text) => {
    expect(atLocal(text, 'UTC')).toBeNull();
  },
);
