import { expect, test } from 'vitest';
import { IMPORT_KINDS } from './importers.ts';
import { mistakesIn, policyOf } from './importing.fixture.ts';

test.each(IMPORT_KINDS)('%s: a file of another kind is refused, with the expected kind', (kind) => {
  if (kind === 'botbox') return;
  expect(mistakesIn(kind, 'colour = 3')).toEqual([expect.stringMatching(/^document: has no known setting: give /)]);
});

test('a figure that no policy accepts is a mistake of its source key, reported with the others', () => {
  const botbox = (health: object) => JSON.stringify({ agents: { health } });
  expect(mistakesIn('botbox', botbox({ repeated_error_threshold: 1, auto_kill_on_idle: 3 }))).toEqual([
    'agents.health.auto_kill_on_idle: 3 is not a switch: write one like true',
    'agents.health.repeated_error_threshold: 1 becomes signals.repeated_error.times: 1 is too little: write at least 2',
  ]);
  expect(policyOf('botbox', botbox({ repeated_error_threshold: 2 })).signals.repeated_error.times).toBe(2);
  expect(mistakesIn('adr-110', 'heartbeat: { interval_seconds: 1.0e-7 }')).toEqual([
    expect.stringMatching(/^heartbeat\.interval_seconds: 1e-7 becomes heartbeat\.interval: "1e-7s" is not a duration/),
  ]);
});

test('mistakes in the YAML of a source are reported like those of a policy', () => {
  expect(mistakesIn('adr-110', 'enabled: true\nheartbeat: *-bot')).toEqual([
    expect.stringMatching(/^line 2, column 12: \*-bot is an alias /),
  ]);
  expect(mistakesIn('adr-110', 'heartbeat: &h { interval_seconds: *h }')).toContainEqual(
    expect.stringMatching(/^line 1, column 35: \*h is an alias inside /),
  );
  expect(mistakesIn('omniclaude', '<<: 5')).toContainEqual(expect.stringMatching(/^line 1, column 5: << merges /));
  expect(mistakesIn('omniclaude', '| Switch | Default |\n|---|---|\n| dispatch_log_dir | *x |\n| a | [ |')).toEqual([]);
});
