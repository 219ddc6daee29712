import { hashes } from '@vigil/sdk/hashes';
import { expect, test } from 'vitest';
import { policyOf, presetsWith } from '../fixture.ts';
import { runJudge } from './judge-run.ts';
import { readRun } from './run.ts';

const POLICY = `
policy: test
signals:
  no_heartbeat: { after: 10s }
  no_activity: { after: 60s }
  call_overdue: { buffer: 10s }
  looping: { is: repeated_calls, times: 3, polling_after: 10m }
  failing: { is: consecutive_failures, above: 3 }
states:
  FAILING: [failing]
  STUCK: [no_activity, call_overdue, looping]
  DEGRADED: [no_heartbeat]
exemptions: { starting: {}, call_in_flight: { buffer: 10s } }
plans:
  - when: STUCK
    do: [{ alert: ops }]
`;
const policy = policyOf(POLICY).all[0]!;
const judged = (calls: readonly object[], gapMs = 5_000) =>
  runJudge(policy, hashes, gapMs)(readRun(JSON.stringify({ run_id: 'r', calls })));
const same = { tool: 'bash', args: 'ls', result: 'a' };
const other = (n: number) => ({ tool: 'bash', args: `cat ${n}`, result: `${n}` });
const stuck = (call: number, at: number, ...signals: string[]) => ({ to: 'STUCK', call, at, signals });
const healthy = (call: number, at: number) => ({ to: 'HEALTHY', call, at, signals: [] });

test('the third identical call makes a loop, and another call ends it', () => {
  expect(judged([same, same])).toEqual({ worst: 'HEALTHY', changes: [] });
  expect(judged([same, same, same, other(1)])).toEqual({
    worst: 'STUCK',
    changes: [stuck(3, 10, 'looping'), healthy(4, 15)],
  });
});

test('without times calls are a gap apart, and what was recorded later in the run dates those before it', () => {
  expect(judged([same, same, same], 20_000).changes).toEqual([stuck(3, 40, 'looping')]);
  expect(judged([same, same, { ...same, ts: 1_000 }]).changes).toEqual([stuck(3, 10, 'looping')]);
  expect(judged([same, { ...same, ts: 7 }, same]).changes).toEqual([stuck(3, 10, 'looping')]);
});

test('silence is judged at its millisecond, whatever the times are counted from', () => {
  for (const from of [0, 1_795_305_600]) {
    expect(
      judged([
        { ...other(1), ts: from },
        { ...other(2), ts: from + 60 },
      ]).changes,
    ).toEqual([]);
    expect(
      judged([
        { ...other(1), ts: from },
        { ...other(2), ts: from + 60.002 },
      ]).changes,
    ).toEqual([stuck(1, 60.001, 'no_activity'), healthy(2, 60.002)]);
  }
});

test('under vigil no gap that successful timed runs have is silence; beyond six minutes it is', () => {
  const vigil = presetsWith('vigil').all.find(({ name }) => name === 'vigil')!;
  const worst = (gap: number) => {
    const calls = [0, 5, 5 + gap].map((ts, i) => ({ ...other(i), ts }));
    return runJudge(vigil, hashes, 5_000)(readRun(JSON.stringify({ run_id: 'r', calls }))).worst;
  };
  for (const gap of [60, 120, 180, 300, 310, 360]) expect(worst(gap)).toBe('HEALTHY');
  expect(worst(360.002)).toBe('STUCK');
});

test('times may be text, and seconds and milliseconds are told apart', () => {
  const texts = ['2026-11-22T04:00:00Z', '2026-11-22T05:01:40.5+01:00'];
  expect(judged(texts.map((ts, i) => ({ ...other(i), ts }))).changes[1]).toEqual(healthy(2, 100.5));
  expect(
    judged([
      { ...other(1), ts: 1_795_305_600_000 },
      { ...other(2), ts: 1_795_305_700 },
    ]).changes[1],
  ).toEqual(healthy(2, 100));
});

test('a time that goes back is no time passing: the order of calls is the record’s', () => {
  const calls = [
    { ...same, ts: 50 },
    { ...same, ts: 20 },
    { ...same, ts: 51 },
  ];
  expect(judged(calls).changes).toEqual([stuck(3, 1, 'looping')]);
});

test('heartbeats are not recorded, so that their absence is not known', () => {
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

test('failed calls count by err or by outcome', () => {
  const failed = (n: number) => (n % 2 === 0 ? { ...other(n), err: true } : { ...other(n), outcome: 'error' });
  expect(judged([0, 1, 2].map(failed)).worst).toBe('HEALTHY');
  expect(judged([0, 1, 2, 3].map(failed)).changes).toEqual([{ to: 'FAILING', call: 4, at: 15, signals: ['failing'] }]);
});

test('what a heartbeat says of a call counts: mutations, polling, rate limits', () => {
  expect(judged([same, same, { ...same, mutating: true }, same]).worst).toBe('HEALTHY');
  expect(judged([same, same, same].map((call) => ({ ...call, polling: true }))).worst).toBe('HEALTHY');
  expect(judged([same, same, same].map((call) => ({ ...call, err: true, error_class: 'rate_limit' }))).worst).toBe(
    'HEALTHY',
  );
});

test('hashes that were recorded go before what could be made of a result that was cut', () => {
  const hashed = (res_h: string) => ({ ...same, args_h: 'x', res_h, resn_h: 'm' });
  expect(judged([hashed('1'), hashed('2'), hashed('3')]).worst).toBe('HEALTHY');
  expect(judged([1, 2, 3].map((n) => ({ ...other(n), args_h: 'x', res_h: 'y', resn_h: 'm' }))).worst).toBe('STUCK');
});

test('a call of which no result is recorded is like no other', () => {
  expect(judged([1, 2, 3, 4].map(() => ({ tool: 'bash', args: 'ls', result: null }))).worst).toBe('HEALTHY');
  expect(judged([1, 2, 3, 4].map(() => ({ tool: 'bash', args: 'ls', result: '' }))).worst).toBe('STUCK');
});

test.each([
  ['neither arguments nor result', { tool: 'bash' }],
  ['no result', { tool: 'bash', args: 'ls' }],
  ['no arguments', { tool: 'bash', result: 'a' }],
  ['null for arguments', { tool: 'bash', args: null, result: 'a' }],
  ['null for a result', { tool: 'bash', args: 'ls', result: null }],
  ['only the hash of its arguments', { tool: 'bash', args_h: 'x' }],
  ['only the hash of its result', { tool: 'bash', res_h: 'y', resn_h: 'z' }],
])('a call with %s is like no other, however often it comes', (_, call) => {
  expect(judged(Array.from({ length: 12 }, () => call))).toEqual({ worst: 'HEALTHY', changes: [] });
});

test.each([
  ['empty texts', '', ''],
  ['false and zero', false, 0],
  ['an empty object and an empty list', {}, []],
  ['null within', { of: null }, [null]],
])('a call whose arguments and result are %s is known, and a loop at the third', (_, args, result) => {
  const call = { tool: 'bash', args, result };
  expect(judged([call, call]).worst).toBe('HEALTHY');
  expect(judged([call, call, call]).changes).toEqual([stuck(3, 10, 'looping')]);
});

test('failures of which neither class nor result is recorded are not the same error; with either they are', () => {
  const strict = policyOf(`
policy: errors
signals: { again: { is: repeated_error, times: 5, within: 10m } }
states: { STUCK: [again] }
`).all[0]!;
  const worst = (more: object) => {
    const calls = Array.from({ length: 5 }, (_, i) => ({ tool: 'a', args: i, err: true, ...more }));
    return runJudge(strict, hashes, 5_000)(readRun(JSON.stringify({ run_id: 'r', calls }))).worst;
  };
  expect(worst({})).toBe('HEALTHY');
  expect(worst({ result: null })).toBe('HEALTHY');
  expect(worst({ result: 'no such file' })).toBe('STUCK');
});

test('a run without calls is healthy', () => {
  expect(judged([])).toEqual({ worst: 'HEALTHY', changes: [] });
});

test.each([
  ['{', /^no JSON: /],
  ['[]', /^the line: /],
  ['{"calls":[]}', /^run_id: /],
  ['{"run_id":"r"}', /^calls: /],
  ['{"run_id":"r","calls":[{"tool":"bash"},{}]}', /^calls\[1\]\.tool: /],
  ['{"run_id":"r","calls":[{"tool":"bash","ts":"soon"}]}', /^calls\[0\]\.ts: "soon" is no time/],
  ['{"run_id":"r","calls":[{"tool":"bash","outcome":"odd"}]}', /^calls\[0\]\.outcome: /],
  ['{"run_id":1,"calls":7}', /^run_id: .*; calls: /],
])('a line that is no run names its fields: %s', (line, message) => {
  expect(() => readRun(line)).toThrow(message);
});

test('unknown fields are left alone, and null is unknown', () => {
  const call = { tool: 'bash', i: 0, ts: null, err: null, mutating: null, outcome: null, kind: null, extra: {} };
  expect(judged([call, call]).worst).toBe('HEALTHY');
});
