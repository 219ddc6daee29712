import { expect, test } from 'vitest';
import { awayOf, blindSinceOf, CONNECTED, connectionAfter, knownOf, oldStateText, sessionText } from './knowledge.ts';

const current = { upTo: 900, blindSince: null, away: [] };

test('the page is blind from the first moment at which the server was blind or the connection was lost', () => {
  expect(blindSinceOf(current, CONNECTED)).toBeNull();
  expect(blindSinceOf({ ...current, blindSince: 500 }, CONNECTED)).toBe(500);
  expect(blindSinceOf(current, { lostSince: 700 })).toBe(700);
  expect(blindSinceOf({ ...current, blindSince: 500 }, { lostSince: 700 })).toBe(500);
  expect(blindSinceOf(null, CONNECTED)).toBeNull();
});

test('an outage has the time of the last good answer, not that of its discovery', () => {
  const good = {
    value: { knowledge: { ...current, upTo: 100_000 } },
    error: null,
    part: null,
    since: null,
    needsLogin: false,
  };
  const none = { ...good, error: 'the dashboard does not answer' };
  const well = connectionAfter(CONNECTED, good, 100_400);
  const lost = connectionAfter(well, none, 103_500);
  // Rows are complete up to a moment before.
  expect(lost).toEqual({ wellAt: 100_400, lostSince: 100_000, needsLogin: false });
  expect(connectionAfter(lost, none, 108_000)).toEqual(lost);
  // Rows of another time are those of a fleet that stands, or of a host whose clock differs.
  expect(connectionAfter({ ...well, wellAt: 105_001 }, none, 108_000).lostSince).toBe(105_001);
  // The dashboard answers again, without states: what it reports is the time in every view.
  const reported = connectionAfter(lost, { ...none, part: 'postgres', since: 99_800 }, 109_000);
  expect(reported.lostSince).toBe(99_800);
  expect(connectionAfter(reported, none, 110_000).lostSince).toBe(99_800);
  expect(connectionAfter(reported, good, 111_000)).toEqual({ wellAt: 111_000, lostSince: null, needsLogin: false });
});

test('a page without an answer names the part that the dashboard misses, or the dashboard, beside those of the last answer', () => {
  const away = [{ part: 'recovery', since: 800, detail: 'no answer' }];
  const good = {
    ...{ value: { knowledge: { ...current, away } }, error: null, part: null, since: null, needsLogin: false },
  };
  expect(awayOf(good, CONNECTED)).toEqual(away);
  const none = { ...good, error: 'the dashboard does not answer' };
  expect(awayOf(none, { lostSince: 900 })).toEqual([
    { part: 'the dashboard', since: 900, detail: 'the dashboard does not answer' },
    ...away,
  ]);
  const without = { ...good, error: 'Postgres has not answered', part: 'postgres', since: 700 };
  expect(awayOf(without, { lostSince: 700 }).map(({ part, since }) => [part, since])).toEqual([
    ...[
      ['postgres', 700],
      ['recovery', 800],
    ],
  ]);
  // Without a session nothing is known of any part.
  expect(awayOf({ ...none, needsLogin: true }, { lostSince: 900 })).toEqual(away);
  expect(awayOf({ ...none, value: null }, CONNECTED)).toEqual([]);
});

test('a page that never had an answer is blind since its first question failed', () => {
  const none = { value: null, error: 'the dashboard does not answer', part: null, since: null, needsLogin: false };
  expect(connectionAfter(CONNECTED, none, 5000)).toEqual({ wellAt: null, lostSince: 5000, needsLogin: false });
});

test('a blind page shows no state as current: each was so at the time until which it is known', () => {
  const timeText = (at: number) => `t${at}`;
  const [current, blind] = [knownOf(null, 900), knownOf(500, 900)];
  expect([current.until, blind.until]).toEqual([900, 500]);
  expect(current.text('HEALTHY')).toBe('HEALTHY');
  expect(blind.text('HEALTHY')).toBe('was HEALTHY');
  expect(current.sinceText('HEALTHY', 100, timeText)).toBe('HEALTHY since t100');
  expect(blind.sinceText('HEALTHY', 100, timeText)).toBe('was HEALTHY at t500');
  expect([current.tone('state-stuck'), blind.tone('state-stuck')]).toEqual(['state-stuck', 'state-was']);
});

test('a standing that begins with a verb is in the past on a blind page, and a current page has it unchanged', () => {
  const standings = ['open', 'waits for you', 'more time until 10:00', 'asks'];
  expect(standings.map(knownOf(500, 900).text)).toEqual([
    ...['was open', 'was waiting for you', 'had more time until 10:00', 'asked'],
  ]);
  expect(standings.map(knownOf(null, 900).text)).toEqual(standings);
});

test('an answer on a blind page has the note that the state may be old, and on a current page it has none', () => {
  expect(oldStateText(true)).toMatch(/^The shown state may be old\./);
  expect(oldStateText(false)).toBeNull();
});

test('a session that has ended is not a lost dashboard: the page has how to log in, and continues after it', () => {
  const good = { value: { knowledge: current }, error: null, part: null, since: null, needsLogin: false };
  const well = connectionAfter(CONNECTED, good, 1000);
  const ended = connectionAfter(well, { ...good, error: 'no session', needsLogin: true }, 2000);
  // Its states are those of the last answer.
  expect(ended).toEqual({ wellAt: 1000, lostSince: 900, needsLogin: true });
  expect(connectionAfter(ended, good, 3000)).toEqual({ wellAt: 3000, lostSince: null, needsLogin: false });
  expect(sessionText(true)).toMatch(/^Your session has ended: log in again\. Open the link that `vigil login`/);
  expect(sessionText(false)).toMatch(/^This browser has no session\./);
});
