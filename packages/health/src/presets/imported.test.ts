import { type ImportKind, importPolicy } from '@vigil/importers';
import { loadPolicy } from '@vigil/policy';
import { expect, test } from 'vitest';
import { VOCABULARY } from '../vocabulary.ts';
import { preset } from './judging.fixture.ts';

const load = (kind: ImportKind, text: string) =>
  loadPolicy(importPolicy(kind, text, 'theirs', VOCABULARY).yaml, 'theirs', VOCABULARY);

test.each([
  ['adr-110', 'coditect', 'health_monitoring:\n  enabled: true'],
  ['botbox', 'botbox', '{ "agents": { "health": { "enabled": true } } }'],
  ['gascity', 'gascity', '[daemon]\nstuck_sweep = false'],
  ['omniclaude', 'omniclaude', '| Switch | Default |\n|---|---|\n| `max_redispatches` | `2` |'],
] as const)('%s: what is imported judges as the preset %s does', (kind, name, text) => {
  expect(load(kind, text)).toMatchObject({ hash: preset(name).policy.hash, warnings: [] });
});

test('changed figures, patterns of Go and other plans are a policy still', () => {
  const toml = `[daemon]\nstuck_sweep = true\nstuck_wisp_threshold = "1m30s"\nstuck_error_patterns = ['(?i)api (?P<n>error)\\z']`;
  expect(load('gascity', toml)).toMatchObject({ enabled: true, warnings: [] });
  const killing = '{"agents":{"health":{"auto_kill_on_repeated_error":true,"auto_kill_on_idle":false}}}';
  expect(load('botbox', killing).plans.map(({ steps }) => steps.map(({ step }) => step))).toContainEqual([
    'terminate',
    'block',
    'alert',
  ]);
  const bare =
    'health_monitoring:\n  intervention: { nudge: { enabled: false } }\nprogress_detection: { checkpoint_comparison: false }';
  expect(
    load('adr-110', bare)
      .plans.at(-1)
      ?.steps.map(({ step }) => step),
  ).toEqual(['escalate', 'terminate', 'recover']);
});

test('what would be refused as a policy is refused when it is imported, under its own key', () => {
  expect(() => load('botbox', '{"agents":{"health":{"repeated_error_threshold":1}}}')).toThrow(
    /agents\.health\.repeated_error_threshold: 1 becomes signals\.repeated_error\.times: /,
  );
  expect(() => load('botbox', '{"agents":{"health":{"repeated_error_threshold":2}}}')).not.toThrow();
});
