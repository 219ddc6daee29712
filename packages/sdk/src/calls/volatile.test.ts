import { expect, test } from 'vitest';
import { hashes } from './hashes.ts';

const NOW = Date.UTC(2026, 10, 27, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const iso = (ms: number): string => new Date(ms).toISOString();

type Case = { readonly failed?: boolean; readonly endedAt?: number | null };
const resultOf = (result: unknown, { failed = false, endedAt = NOW }: Case): string | null =>
  hashes({ result, failed, endedAt }).result_hash;
const areAlike = (one: unknown, other: unknown, how: Case = {}): boolean => resultOf(one, how) === resultOf(other, how);

/** Fields that hold epoch seconds: whether their name is that of a time. */
const NAMES: readonly (readonly [string, boolean])[] = [
  ['polled_at', true],
  ['polled-at', true],
  ['polledAt', true],
  ['at', true],
  ['build_date', true],
  ['buildDate', true],
  ['start_time', true],
  ['startTime', true],
  ['starttime', true],
  ['poll_ts', true],
  ['pollTs', true],
  ['event-timestamp', true],
  ['format', false],
  ['seat', false],
  ['float', false],
  ['stat', false],
  ['candidate', false],
  ['update', false],
  ['lifetime', false],
  ['counts', false],
];

test.each(NAMES)('epoch seconds in a field %s are a time: %s', (name, isTime) => {
  const field = (n: number) => ({ [name]: 1_795_700_000 + n, state: 'up' });
  expect(areAlike(field(1), field(2))).toBe(isTime);
});

test('a time more than a day before the call is data, a later one is noise', () => {
  const before = (ms: number) => [iso(NOW - ms), iso(NOW - ms + 1000)] as const;
  for (const failed of [false, true])
    for (const [distance, isNoise] of [
      [0, true],
      [DAY - HOUR, true],
      [DAY, true],
      [DAY + HOUR, false],
      [900 * DAY, false],
      [-90 * DAY, true],
    ] as const) {
      const [one, other] = before(distance);
      const label = `${distance / HOUR} h before the call`;
      expect(areAlike(`imported until ${one}`, `imported until ${other}`, { failed }), label).toBe(isNoise);
      expect(areAlike({ timestamp: one }, { timestamp: other }, { failed }), `${label}, as a field`).toBe(isNoise);
    }
});

test('that holds for epoch seconds and milliseconds, too, in texts and fields', () => {
  const seconds = (ms: number) => Math.floor(ms / 1000);
  for (const [distance, isNoise] of [
    [0, true],
    [3 * DAY, false],
  ] as const) {
    const [one, other] = [NOW - distance, NOW - distance + 7000];
    expect(areAlike(`ts=${seconds(one)} row`, `ts=${seconds(other)} row`)).toBe(isNoise);
    expect(areAlike(`${one} row`, `${other} row`)).toBe(isNoise);
    expect(areAlike({ time: seconds(one) }, { time: seconds(other) })).toBe(isNoise);
    expect(areAlike({ polled_at: seconds(one) }, { polled_at: seconds(other) })).toBe(isNoise);
    expect(areAlike({ seen: one }, { seen: other })).toBe(isNoise);
  }
});

test('without the time of the call, and without a date, a time is noise', () => {
  expect(areAlike('until 2020-01-01T10:00:00Z', 'until 2020-01-02T10:00:00Z', { endedAt: null })).toBe(true);
  expect(areAlike('10:00:01 ready', '10:00:07 ready')).toBe(true);
  expect(areAlike({ duration: 3, timestamp: 'now' }, { duration: 4, timestamp: 'then' })).toBe(true);
});

test('an old date that stays and a new one that moves are a loop', () => {
  const answer = (ms: number) => `built 2024-01-05T10:00:00Z, asked ${iso(ms)}`;
  expect(areAlike(answer(NOW), answer(NOW + 9000))).toBe(true);
});

/** Pairs of answers of a call that succeeded, and whether they are the same. */
const PAIRS: readonly (readonly [string, string, boolean])[] = [
  // positions in a medium
  ['size=N/A time=00:00:12.34 bitrate=N/A speed=2.08x', 'size=N/A time=00:00:14.42 bitrate=N/A speed=2.08x', false],
  ['time=10:31:12 level=info up', 'time=10:31:19 level=info up', true],
  ['time=10:31:12.345 level=info up', 'time=10:31:19.100 level=info up', true],
  ['out_time=00:00:12.340000', 'out_time=00:00:13.180000', false],
  ['position: 0:01:10', 'position: 0:01:40', false],
  ['[00:01:10/00:20:00] playing', '[00:01:40/00:20:00] playing', false],
  ['0:01:10.25 / 0:20:00.00', '0:01:40.75 / 0:20:00.00', false],
  ['34s / 120s', '41s / 120s', false],
  ['0:00:12.34 left', '0:00:11.20 left', false],
  // counts of restarts and of a rate limit, and frames of a spinner
  ['api 0/1 Error 5 (32s ago) 5h', 'api 0/1 Error 6 (2m3s ago) 5h', true],
  ['api 1/1 Running 5 0 5h', 'api 1/1 Running 6 0 5h', false],
  ['restart counter is at 5.', 'restart counter is at 6.', true],
  ['{"name":"api","restartCount":5}', '{"name":"api","restartCount":6}', true],
  ['x-ratelimit-remaining: 41', 'x-ratelimit-remaining: 40', true],
  ['RateLimit-Remaining: 41', 'RateLimit-Remaining: 40', true],
  ['{"X-RateLimit-Remaining":"41"}', '{"X-RateLimit-Remaining":"40"}', true],
  ['{"rate_limit":{"per_second":5}}', '{"rate_limit":{"per_second":9}}', false],
  ['tests remaining: 41', 'tests remaining: 40', false],
  ['{"remaining":41}', '{"remaining":40}', false],
  ['HTTP/2 200\nage: 41\n', 'HTTP/2 200\nage: 48\n', true],
  ['page: 41', 'page: 42', false],
  ['⠋ Resolving', '⠙ Resolving', true],
  ['⠋ Resolving', '⠋ Linking', false],
  // seconds before a line
  ['#9 12.34 E: no package', '#9 7.12 E: no package', true],
  ['#9 12.34 E: no package', '#10 12.34 E: no package', false],
  ['score #9 12.34 points', 'score #9 7.12 points', false],
  ['[   12.345678] usb 1: reset', '[   19.100001] usb 1: reset', true],
  ['[12.3] usb', '[19.1] usb', false],
  // content has the hash of its bytes
  [`${'a1'.repeat(32)}  out.bin`, `${'b2'.repeat(32)}  out.bin`, false],
  [`${'a1'.repeat(16)} *out.bin`, `${'b2'.repeat(16)} *out.bin`, false],
  [`SHA2-256(out.bin)= ${'a1'.repeat(32)}`, `SHA2-256(out.bin)= ${'b2'.repeat(32)}`, false],
  [`SHA256 (out.bin) = ${'a1'.repeat(32)}`, `SHA256 (out.bin) = ${'b2'.repeat(32)}`, false],
  [`${'a1'.repeat(20)}\n`, `${'b2'.repeat(20)}\n`, false],
  [`${'a1'.repeat(20)}\trefs/heads/main`, `${'b2'.repeat(20)}\trefs/heads/main`, false],
  [
    `Bisecting: 0 revisions left\n[${'a1'.repeat(20)}] wip`,
    `Bisecting: 0 revisions left\n[${'b2'.repeat(20)}] wip`,
    false,
  ],
  [`HEAD is now at a1b2c3d wip`, `HEAD is now at b2c3d4e wip`, false],
  [`   a1b2c3d..b2c3d4e  main -> origin/main`, `   b2c3d4e..c3d4e5f  main -> origin/main`, false],
  [`commit ${'a1'.repeat(20)}\nAuthor: A\n\n  wip`, `commit ${'b2'.repeat(20)}\nAuthor: A\n\n  wip`, false],
  // any other hash may be that of the run
  [`Started ${'a1'.repeat(32)}`, `Started ${'b2'.repeat(32)}`, true],
  [`${'a1'.repeat(32)}\n`, `${'b2'.repeat(32)}\n`, true],
  [`failed at commit ${'a1'.repeat(20)}`, `failed at commit ${'b2'.repeat(20)}`, true],
  // a list of nothing but addresses or ids, in any order
  ['10.0.0.1\n10.0.0.2\n', '10.0.0.3\n10.0.0.4\n', false],
  ['10.0.0.1\n10.0.0.2\n', '10.0.0.2\n10.0.0.1\n', true],
  ['10.0.0.1:80\n10.0.0.2:80', '10.0.0.3:80\n10.0.0.4:80', false],
  ['10.0.0.1\n', '10.0.0.2\n', true],
  ['refused by\n10.0.0.1', 'refused by\n10.0.0.2', true],
  ['0a1b2c3d4e5f\n1a1b2c3d4e5f\n', '2a1b2c3d4e5f\n3a1b2c3d4e5f\n', false],
  ['3 s\n4 s', '5 s\n6 s', true],
  // an address in memory, and a hexadecimal figure that grows
  ['<Job object at 0x7f3a2c>', '<Job object at 0x7f3b90>', true],
  ['<Job object at 0x7f3a2c9d10>', '<Job object at 0x7f3b90aa40>', true],
  ['segfault in 0x7f3a2c9d10', 'segfault in 0x7f3b90aa40', true],
  ['coverage 0x201', 'coverage 0x402', false],
  ['coverage 0xfffff0', 'coverage 0xfffff9', false],
  // what is invisible
  ['ERROR bad  \nstop', 'ERROR bad\nstop', true],
  ['ERROR bad', 'ERROR bad \n\n', true],
  ['ERROR bad', 'ERROR  bad', false],
  ['a\n\nb', 'a\nb', false],
  ['\u001b[31mERROR\u001b[0m bad', '\u001b[1;33mERROR\u001b[0m bad', true],
  ['\u001b[31mERROR\u001b[0m bad', 'ERROR bad', true],
  ['\u001b[31mERROR\u001b[0m bad', '\u001b[31mERROR\u001b[0m worse', false],
];

test.each(PAIRS)('are %j and %j the same answer? %s', (one, other, alike) => {
  expect(areAlike(one, other)).toBe(alike);
});

test('a failure with a list of addresses is the same failure', () => {
  expect(areAlike('10.0.0.1\n10.0.0.2', '10.0.0.3\n10.0.0.4', { failed: true })).toBe(true);
});
