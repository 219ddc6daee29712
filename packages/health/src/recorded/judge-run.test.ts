import { hashes } from '@vigil/sdk/hashes';
import { expect, test } from 'vitest';
import { policyOf, presetsWith } from '../fixture.ts';
import { runJudge } from './judge.ts';
import { brief, healthy, judged, other, same, stuck } from './recorded.fixture.ts';
import { readRun } from './run.ts';

test('the third identical call makes a loop, and another call ends it', () => {
  expect(judged([same, same])).toEqual({ worst: 'HEALTHY', changes: [] });
  expect(judged([same, same, same, other(1)])).toEqual({
    worst: 'STUCK',
    changes: [stuck(3, 10, 'looping'), healthy(4, 15)],
  });
});

test('calls without times are one gap apart, and a later recorded time dates the calls before it', () => {
  expect(judged([same, same, same], 20_000).changes).toEqual([stuck(3, 40, 'looping')]);
  expect(judged([same, same, { ...same, ts: 1_000 }]).changes).toEqual([stuck(3, 10, 'looping')]);
  expect(judged([same, { ...same, ts: 7 }, same]).changes).toEqual([stuck(3, 10, 'looping')]);
});

test('silence is judged to the millisecond, with any origin of the times', () => {
  for (const from of [0, 1_795_305_600]) {
    expect(judged([brief(1, from), brief(2, from + 60)]).changes).toEqual([]);
    expect(judged([brief(1, from), brief(2, from + 60.002)]).changes).toEqual([
      stuck(1, 60.001, 'no_activity'),
      healthy(2, 60.002),
    ]);
  }
});

test('under vigil the gaps of successful timed runs are not silence; a gap beyond six minutes is', () => {
  const vigil = presetsWith('vigil').all.find(({ name }) => name === 'vigil')!;
  const worst = (gap: number) => {
    const calls = [0, 5, 5 + gap].map((ts, i) => brief(i, ts));
    return runJudge(vigil, hashes, 5_000)(readRun(JSON.stringify({ run_id: 'r', calls }))).worst;
  };
  for (const gap of [60, 120, 180, 300, 310, 360]) expect(worst(gap)).toBe('HEALTHY');
  expect(worst(360.002)).toBe('STUCK');
});

const presets = presetsWith('vigil').all;
const underPreset = (name: string, calls: readonly object[], gapMs = 5_000) =>
  runJudge(presets.find((one) => one.name === name)!, hashes, gapMs)(readRun(JSON.stringify({ run_id: 'r', calls })));

test('a call with an unknown start may have taken the whole gap before it, so the gap is not silence', () => {
  const gap = (more: object) => [
    { ...other(1), ts: 0 },
    { ...other(2), ts: 881, ...more },
  ];
  expect(underPreset('vigil', gap({}))).toEqual({ worst: 'HEALTHY', changes: [] });
  expect(underPreset('vigil', gap({ started_at: 881 })).changes).toMatchObject([
    { to: 'STUCK', call: 1, at: 360.001, signals: ['no_activity'] },
    { to: 'HEALTHY', at: 881 },
  ]);
  expect(underPreset('vigil', gap({ started_at: 361 })).changes).toMatchObject([
    { to: 'STUCK' },
    { to: 'HEALTHY', at: 361 },
  ]);
  expect(underPreset('vigil', gap({ started_at: 360 })).worst).toBe('HEALTHY');
});

test('a call with an unknown start is never overdue, however long the gap before it', () => {
  const calls = [
    { ...other(1), ts: 0 },
    { ...other(2), ts: 10 * 86_400, deadline_at: 60 },
  ];
  expect(underPreset('vigil', calls).worst).toBe('HEALTHY');
});

test('a call that was recorded as running has a known start', () => {
  const calls = [
    { ...other(1), ts: 0 },
    { ...other(2), call_id: 'c', outcome: 'running', ts: 400 },
    { ...other(2), call_id: 'c', ts: 401 },
  ];
  expect(underPreset('vigil', calls).changes).toMatchObject([
    { to: 'STUCK', at: 360.001 },
    { to: 'HEALTHY', at: 400 },
  ]);
});

test.each(presets.map(({ name }) => name))('silence is not judged under %s if no times are recorded', (name) => {
  const calls = Array.from({ length: 20 }, (_, i) => ({ ...other(i), token_count: 1_000 * i }));
  expect(underPreset(name, calls, 7 * 60_000)).toEqual({ worst: 'HEALTHY', changes: [] });
});

test('the gap between calls without times counts for windows', () => {
  const calls = Array.from({ length: 5 }, (_, i) => ({ tool: 'bash', args: i, result: 'no such file', err: true }));
  expect(underPreset('botbox', calls).changes).toMatchObject([{ to: 'STUCK', call: 5, signals: ['repeated_error'] }]);
  expect(underPreset('botbox', calls, 7 * 60_000).worst).toBe('HEALTHY');
});

test('times may be text, and seconds and milliseconds are distinguished', () => {
  const texts = ['2026-11-22T04:00:00Z', '2026-11-22T05:01:40.5+01:00'];
  expect(judged(texts.map((ts, i) => ({ ...other(i), started_at: ts, ts }))).changes[1]).toEqual(healthy(2, 100.5));
  expect(judged([{ ...other(1), ts: 1_795_305_600_000 }, brief(2, 1_795_305_700)]).changes[1]).toEqual(healthy(2, 100));
});

test('a time that goes back does not count as elapsed time; the order of calls is that of the record', () => {
  const calls = [
    { ...same, ts: 50 },
    { ...same, ts: 20 },
    { ...same, ts: 51 },
  ];
  expect(judged(calls).changes).toEqual([stuck(3, 1, 'looping')]);
});

test('heartbeats are not recorded, so their absence is unknown', () => {
  expect(
    judged([
      { ...other(1), ts: 0 },
      { ...other(2), ts: 59 },
    ]).worst,
  ).toBe('HEALTHY');
});

test('after the last call nothing is judged', () => {
  expect(judged([other(1), { ...other(2), outcome: 'running', deadline_at: 6 }]).changes).toEqual([]);
});

test('failed calls count by err or by outcome', () => {
  const failed = (n: number) => (n % 2 === 0 ? { ...other(n), err: true } : { ...other(n), outcome: 'error' });
  expect(judged([0, 1, 2].map(failed)).worst).toBe('HEALTHY');
  expect(judged([0, 1, 2, 3].map(failed)).changes).toEqual([{ to: 'FAILING', call: 4, at: 15, signals: ['failing'] }]);
});

test('the fields of a call in a heartbeat count: mutations, polling, rate limits', () => {
  expect(judged([same, same, { ...same, args: 'edit', mutating: true }, same]).worst).toBe('HEALTHY');
  expect(judged([same, same, same].map((call) => ({ ...call, polling: true }))).worst).toBe('HEALTHY');
  expect(judged([same, same, same].map((call) => ({ ...call, err: true, error_class: 'rate_limit' }))).worst).toBe(
    'HEALTHY',
  );
});

test.each(['vigil', 'vigil:evaluator', 'vigil.case', 'r'])('a run is judged with any run_id: %s', (run_id) => {
  const strict = runJudge(presetsWith('vigil').all.find(({ name }) => name === 'vigil')!, hashes, 5_000);
  expect(strict(readRun(JSON.stringify({ run_id, calls: Array.from({ length: 5 }, () => same) }))).worst).toBe('STUCK');
});

const WEEK = 7 * 86_400;
const DATE = Date.UTC(2026, 10, 22) / 1000;
test.each([WEEK - 1, WEEK, WEEK + 1, 8 * WEEK])('after a gap of %d s the next call ends the silence', (gap) => {
  const calls = [0, gap, gap + 1].map((ts, i) => brief(i, DATE + ts));
  expect(judged(calls)).toEqual({ worst: 'STUCK', changes: [stuck(1, 60.001, 'no_activity'), healthy(2, gap)] });
});

test('a state that continues after such a gap is not a change', () => {
  const strict = policyOf(`
policy: strict
signals: { failing: { is: unrecoverable_error, classes: [fatal] } }
states: { FAILING: [failing] }
`).all[0]!;
  const calls = [0, WEEK + 1, WEEK + 2].map((ts, i) => ({
    ...other(i),
    ts,
    err: i < 2,
    error_class: i < 2 ? 'fatal' : null,
  }));
  expect(runJudge(strict, hashes, 5_000)(readRun(JSON.stringify({ run_id: 'r', calls }))).changes).toEqual([
    { to: 'FAILING', call: 1, at: 0, signals: ['failing'] },
    healthy(3, WEEK + 2),
  ]);
});

test('a run without calls is healthy', () => {
  expect(judged([])).toEqual({ worst: 'HEALTHY', changes: [] });
});

const DONE = policyOf(`
policy: done
signals: { undone: { is: false_completion }, no_activity: { after: 60s } }
states: { STUCK: [no_activity], DEGRADED: [undone] }
`).all[0]!;

test('a run claims to have finished if its last call has ended and nothing cut it off', () => {
  const judge = (last: object, more: object = {}) =>
    runJudge(DONE, hashes, 5_000)(readRun(JSON.stringify({ run_id: 'r', calls: [other(1), last], ...more })));
  const check = { ...other(2), checking: true };
  expect(judge({ ...check, err: true }).changes).toEqual([{ to: 'DEGRADED', call: 2, at: 5, signals: ['undone'] }]);
  expect(judge(check).worst).toBe('HEALTHY');
  expect(judge({ ...check, err: true }, { cut_off: true }).worst).toBe('HEALTHY');
  expect(judge({ ...check, outcome: 'running' }).worst).toBe('HEALTHY');
});

test('no other finding begins or ends with the claim', () => {
  const calls = [brief(1, 0), brief(2, 0), { ...brief(3, 61), outcome: 'error' }];
  expect(runJudge(DONE, hashes, 5_000)(readRun(JSON.stringify({ run_id: 'r', calls }))).changes).toEqual([
    stuck(2, 60.001, 'no_activity'),
    healthy(3, 61),
    { to: 'DEGRADED', call: 3, at: 61, signals: ['undone'] },
  ]);
});

test('a hang in the last call is judged until the end of the run, where that is known', () => {
  const hangs = { tool: 'bash', args: 'make', outcome: 'running', started_at: 0, ts: 0 };
  const run = (more: object) =>
    runJudge(
      presetsWith('vigil').all.find(({ name }) => name === 'vigil')!,
      hashes,
      5_000,
    )(readRun(JSON.stringify({ run_id: 'r', calls: [{ ...other(1), ts: 0 }, hangs], ...more }))).worst;
  expect(run({})).toBe('HEALTHY');
  expect(run({ ended_at: 1_800 })).toBe('HEALTHY');
  expect(run({ ended_at: 7_200 })).toBe('STUCK');
});

test('times in microseconds and nanoseconds are refused, by their unit', () => {
  const at = (ts: number) => () => readRun(JSON.stringify({ run_id: 'r', calls: [{ ...other(1), ts }] }));
  expect(at(1_764_000_000_000)).not.toThrow();
  expect(at(1_764_000_000_000_000)).toThrow('looks like microseconds: give seconds or milliseconds');
  expect(at(1_764_000_000_000_000_000)).toThrow('looks like nanoseconds');
});

const timed =
  (...times: readonly unknown[]) =>
  () =>
    readRun(JSON.stringify({ run_id: 'r', calls: times.map((ts, i) => ({ ...other(i), ts })) }));

test('a relative time is in seconds, and of at most 30 days; a date is after 1999', () => {
  expect(timed(-5, 0, 881, 2_592_000)).not.toThrow();
  expect(timed(0, 2_592_001)).toThrow(
    'calls[1].ts: 2592001 is neither a date since 2000 nor a relative time of at most 30 days: give relative times in seconds',
  );
  expect(timed(946_684_800)).not.toThrow();
  expect(timed(946_684_799)).toThrow('calls[0].ts: 946684799 is neither a date');
  expect(timed(946_684_800_000)).not.toThrow();
  expect(timed(946_684_799_999)).toThrow('calls[0].ts: 946684799999 is neither a date');
});

test('a run mixes no relative times and dates', () => {
  expect(timed(0, 1_795_305_600)).toThrow(
    'calls[1].ts: is a date, and calls[0].ts is a relative time: give all times of a run in one way',
  );
  expect(timed('2026-11-22T04:00:00Z', 5)).toThrow('calls[1].ts: is a relative time, and calls[0].ts is a date');
  expect(timed('2026-11-22T04:00:00Z', 1_795_305_600, 1_795_305_600_000)).not.toThrow();
  const run = { run_id: 'r', calls: [{ ...other(1), ts: 5 }], ended_at: '2026-11-22T04:00:00Z' };
  expect(() => readRun(JSON.stringify(run))).toThrow('ended_at: is a date, and calls[0].ts is a relative time');
});
