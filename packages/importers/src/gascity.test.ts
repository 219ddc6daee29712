import { expect, test } from 'vitest';
import { mistakesIn, policyOf, preset, unmappedOf } from './importing.fixture.ts';
import { GASCITY_TOML } from './sources.fixture.ts';

test('the five fields change their policy fields; the rest of the section is listed as unmapped', () => {
  const policy = policyOf('gascity', GASCITY_TOML);
  expect(policy).toMatchObject({ enabled: true, warrant: { label: 'pool:hounds' } });
  expect(policy.signals).toMatchObject({
    no_work_update: { after: '90m' },
    progress_mismatch: { after: '90m' },
    error_pattern: { patterns: ['(?i)api error: (?P<code>400|5\\d\\d)', 'tool_use concurrency\\z'], lines: 80 },
  });
  expect(unmappedOf('gascity', GASCITY_TOML)).toEqual(['daemon.patrol_interval']);
});

test('the defaults, and values that count as unset, give the preset gascity', () => {
  const defaults =
    '[daemon]\nstuck_sweep = false\nstuck_wisp_threshold = "10m"\nstuck_error_patterns = []\nstuck_peek_lines = 50\nstuck_warrant_label = "pool:dog"';
  const unset = '[daemon]\nstuck_wisp_threshold = ""\nstuck_peek_lines = 0\nstuck_warrant_label = ""';
  expect(policyOf('gascity', defaults)).toEqual(preset('gascity'));
  expect(policyOf('gascity', unset)).toEqual(preset('gascity'));
});

test.each([
  ['+10m', '10m'],
  ['.5h', '30m'],
  ['1.m', '1m'],
  ['1h30m0s', '90m'],
])('the Go duration %s is %s', (go, after) => {
  expect(policyOf('gascity', `[daemon]\nstuck_wisp_threshold = "${go}"`).signals.no_work_update.after).toBe(after);
});

test.each([
  ['"-5m"', '"-5m" is below zero: write one like "10m"'],
  ['"+"', '"+" is not a Go duration: write one like "10m"'],
  ['"5"', '"5" is not a Go duration: write one like "10m"'],
  ['".m"', '".m" is not a Go duration: write one like "10m"'],
  ['"2d"', '"2d" is not a Go duration: write one like "10m"'],
  ['5', '5 is not a Go duration: write one like "10m"'],
])('the threshold %s is a mistake', (written, why) => {
  expect(mistakesIn('gascity', `[daemon]\nstuck_wisp_threshold = ${written}`)).toEqual([
    `daemon.stuck_wisp_threshold: ${why}`,
  ]);
});

test('a city without settings for stuck agents gets the preset, which is off', () => {
  const city = '[workspace]\nname = "bright-lights"\n';
  const patrols = `${city}[daemon]\npatrol_interval = "30s"\n`;
  for (const text of [patrols, city, '[[agent]]\nname = "mayor"', '[daemon]'])
    expect(policyOf('gascity', text)).toEqual(preset('gascity'));
  expect(preset('gascity').enabled).toBe(false);
  expect([patrols, city, '[daemon]'].map((text) => unmappedOf('gascity', text))).toEqual([
    ['daemon.patrol_interval'],
    ['daemon'],
    [],
  ]);
});

test('a daemon that is not a table is a mistake', () => {
  const mistake = ['daemon: is not a table: write its keys below [daemon]'];
  expect(mistakesIn('gascity', 'daemon = 5')).toEqual(mistake);
  expect(mistakesIn('gascity', '[[daemon]]\nstuck_sweep = true')).toEqual(mistake);
});

test('a number of lines above its limit is reduced, with a note', () => {
  const many = '[daemon]\nstuck_peek_lines = 2001';
  expect(policyOf('gascity', many).signals.error_pattern.lines).toBe(2000);
  expect(unmappedOf('gascity', many)).toEqual(['daemon.stuck_peek_lines']);
  expect(unmappedOf('gascity', '[daemon]\nstuck_peek_lines = 2000')).toEqual([]);
});

test('a bad pattern is named by its index, with every other mistake', () => {
  expect(
    mistakesIn('gascity', `[daemon]\nstuck_wisp_threshold = "soon"\nstuck_error_patterns = ['ok', '(', '(?!no)']`),
  ).toEqual([
    'daemon.stuck_wisp_threshold: "soon" is not a Go duration: write one like "10m"',
    expect.stringMatching(/^daemon\.stuck_error_patterns\[1\]: "\(" is not an RE2 pattern/),
    expect.stringMatching(/^daemon\.stuck_error_patterns\[2\]: "\(\?!no\)" is not an RE2 pattern/),
  ]);
  expect(
    mistakesIn('gascity', `[daemon]\nstuck_error_patterns = ["ok", "(unclosed", "(?=lookahead)", '(a)\\1', 5]`),
  ).toEqual([1, 2, 3, 4].map((i) => expect.stringContaining(`daemon.stuck_error_patterns[${i}]: `)));
  expect(mistakesIn('gascity', '[daemon]\nstuck_sweep = maybe')).toEqual([expect.stringMatching(/^line 2: /)]);
});
