import type { Away, Sql } from '@vigil/read-model';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BROKER, POSTGRES } from './knowledge.ts';
import { failingWhileAway, lookOut, type Probe } from './look-out.ts';

const PARTS = [
  ...['gateway', 'heartbeat-ingest', 'health-evaluator', 'intervention', 'recovery', 'alerting', 'projector'],
  ...['registry', BROKER],
];
const POSTMASTER = 'postmaster';
/** The page and `vigil health --watch` ask the dashboard each second. */
const WITHIN_MS = 5000 - 1000;

let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
  vi.useFakeTimers();
});
afterEach(() => {
  stop.abort();
  vi.useRealTimers();
});

/** Parts that answer, except those that stand, which answer late; the rows advance once a second while all work. */
const opened = () => {
  const standing = new Set<string>();
  const late: (() => void)[] = [];
  const asked = new Map<string, number>();
  const answerOf = async (part: string): Promise<void> => {
    asked.set(part, (asked.get(part) ?? 0) + 1);
    if (standing.has(part)) await new Promise<void>((resolve) => late.push(resolve));
  };
  const began = Date.now();
  let upTo = began;
  const probes = new Map<string, Probe>(PARTS.map((part) => [part, () => answerOf(part)]));
  const instant = () => ({ now: Date.now(), monotonic: Date.now() - began });
  const model = {
    projectedUpTo: async () => {
      await answerOf('postgres');
      if (standing.size === 0) upTo = Math.floor(Date.now() / 1000) * 1000;
      return upTo;
    },
  };
  /** The connections that are open answer; no new one is taken, and the projector needs one. */
  const freezePostmaster = (): void => void standing.add(POSTMASTER);
  const heal = (): void => {
    standing.clear();
    for (const answer of late.splice(0)) answer();
  };
  const connect = () => answerOf(POSTMASTER);
  const knowledge = lookOut({ model, connect, probes, instant, signal: stop.signal });
  return { standing, freezePostmaster, heal, asked, knowledge };
};

test('while all parts answer and the rows advance, nothing is away and the answers are current', async () => {
  const { knowledge } = opened();
  for (let seconds = 0; seconds < 60; seconds += 1) {
    await vi.advanceTimersByTimeAsync(1000);
    expect(knowledge()).toMatchObject({ blindSince: null, away: [] });
  }
});

test.each([...PARTS, 'postgres'])(
  '%s stands still: named in time for a view to report it within five seconds',
  async (part) => {
    const { standing, heal, knowledge } = opened();
    await vi.advanceTimersByTimeAsync(10_250);
    standing.add(part);
    await vi.advanceTimersByTimeAsync(WITHIN_MS);
    expect(knowledge().away.map((one) => one.part)).toEqual([part]);
    heal();
    await vi.advanceTimersByTimeAsync(4000);
    expect(knowledge()).toMatchObject({ blindSince: null, away: [] });
  },
);

test('a postmaster that is frozen is named, as Postgres, in time for a view to report it within five seconds', async () => {
  const { freezePostmaster, heal, knowledge } = opened();
  await vi.advanceTimersByTimeAsync(10_250);
  freezePostmaster();
  const times = new Set<number>();
  for (let look = 0; look < 300; look += 1) {
    await vi.advanceTimersByTimeAsync(100);
    const { blindSince, away } = knowledge();
    const isLate = look >= WITHIN_MS / 100 - 1;
    if (isLate) expect(away.map(({ part }) => part)).toEqual([POSTGRES]);
    for (const time of [blindSince, ...away.map(({ since }) => since)]) if (time !== null) times.add(time);
  }
  expect(times.size).toBe(1);
  heal();
  await vi.advanceTimersByTimeAsync(4000);
  expect(knowledge()).toMatchObject({ blindSince: null, away: [] });
});

test('no new connection is opened while the rows advance, and Postgres is not blamed where they stand still without it', async () => {
  const { standing, asked, knowledge } = opened();
  await vi.advanceTimersByTimeAsync(60_250);
  expect(asked.get(POSTMASTER) ?? 0).toBe(0);
  standing.add('projector');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.get(POSTMASTER)).toBeGreaterThan(1);
  expect(knowledge().away.map(({ part }) => part)).toEqual(['projector']);
});

test.each(['gateway', 'heartbeat-ingest', 'health-evaluator', 'projector', BROKER, 'postgres'])(
  'without %s no state counts as the present one, in time for a view to report it within five seconds',
  async (part) => {
    const { standing, knowledge } = opened();
    await vi.advanceTimersByTimeAsync(10_250);
    standing.add(part);
    await vi.advanceTimersByTimeAsync(WITHIN_MS);
    expect(knowledge().blindSince).not.toBeNull();
  },
);

test.each([...PARTS, 'postgres'].flatMap((part) => [10_000, 10_250, 10_999].map((at) => [part, at] as const)))(
  'an outage of %s, from %i ms on, has one time, however often and wherever it is looked at',
  async (part, at) => {
    const { standing, knowledge } = opened();
    await vi.advanceTimersByTimeAsync(at);
    const before = Date.now();
    standing.add(part);
    const times = new Set<number>();
    for (let look = 0; look < 300; look += 1) {
      await vi.advanceTimersByTimeAsync(100);
      const { blindSince, away } = knowledge();
      for (const time of [blindSince, ...away.map((one) => one.since)]) if (time !== null) times.add(time);
    }
    expect(times.size).toBe(1);
    // Rows of whole seconds are looked at twice a second.
    expect(before - ([...times][0] ?? 0)).toBeLessThan(2000);
    expect([...times][0]).toBeLessThanOrEqual(before);
  },
);

test('a part that does not answer is asked no second time until it does: questions do not pile up', async () => {
  const { standing, asked } = opened();
  await vi.advanceTimersByTimeAsync(10_250);
  standing.add(BROKER);
  await vi.advanceTimersByTimeAsync(2000);
  const before = asked.get(BROKER);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.get(BROKER)).toBe(before);
});

test('while Postgres is away a query fails at once and names it, and its database is not asked; else it is answered', async () => {
  const away: Away[] = [{ part: 'broker', since: 1000, detail: 'no answer' }];
  const asked: string[] = [];
  const database: Sql = {
    query: async (text) => {
      asked.push(text);
      return { rows: [{ one: 1 }] };
    },
  };
  const sql = failingWhileAway(database, () => away);
  expect(await sql.query('SELECT 1')).toEqual({ rows: [{ one: 1 }] });
  away.push({ part: POSTGRES, since: 2000, detail: 'no answer within 2 s' });
  await expect(sql.query('SELECT 2')).rejects.toMatchObject({
    ...{ status: 503, type: 'read_model_away', members: { since: 2000, part: 'postgres' } },
    message: expect.stringContaining('Postgres has not answered since 1970-01-01 00:00:02 UTC (no answer within 2 s)'),
  });
  expect(asked).toEqual(['SELECT 1']);
});

test('a query that waits when Postgres is found away fails then, and names it, before its caller gives up', async () => {
  const away: Away[] = [];
  let answer = (): void => {};
  const database: Sql = {
    query: () => new Promise((resolve) => (answer = () => resolve({ rows: [] }))),
  };
  const sql = failingWhileAway(database, () => away);
  const lost = expect(sql.query('SELECT 1')).rejects.toMatchObject({
    ...{ status: 503, type: 'read_model_away', members: { since: 2000, part: 'postgres' } },
  });
  away.push({ part: POSTGRES, since: 2000, detail: 'no answer within 2 s' });
  await vi.advanceTimersByTimeAsync(100);
  await lost;
  expect(vi.getTimerCount()).toBe(0);
  away.pop();
  const slow = sql.query('SELECT 2');
  await vi.advanceTimersByTimeAsync(10_000);
  answer();
  expect(await slow).toEqual({ rows: [] });
  expect(vi.getTimerCount()).toBe(0);
});
