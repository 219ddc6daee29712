import { expect, test } from 'vitest';
import { load, VOCABULARY } from './fixture.ts';
import { republished } from './sets/files.ts';
import { canonicalJson, contentHash } from './values/canonical.ts';
import { brief, parseDuration, spell } from './values/duration.ts';

const WHOLE = `
policy: whole
signals:
  silent: { is: no_activity, after: 6m }
  looping: {}
states:
  STUCK: [silent, looping + silent]
exemptions: { idle: false }
plans:
  - when: [STUCK, silent + idle]
    do: [{ nudge: { interval: 10m } }, { escalate: { timeout: never } }, recover, { alert: ops }]
`;

test('durations are read with their unit, and formatted for people', () => {
  expect(['10m', '60s', '1.5h', '500ms', '2d', '10', 'm'].map(parseDuration)).toEqual([
    600_000,
    60_000,
    5_400_000,
    500,
    172_800_000,
    null,
    null,
  ]);
  expect([800, 45_000, 372_000, 3_600_000, 7_500_000].map(spell)).toEqual([
    '800 ms',
    '45 s',
    '6 min 12 s',
    '1 h',
    '2 h 5 min',
  ]);
});

test('a duration is written in its shortest form', () => {
  expect([600_000, 60_000, 90_000, 500, 0, 172_800_000].map(brief)).toEqual(['10m', '1m', '90s', '500ms', '0ms', '2d']);
});

test('a document becomes plain values: durations in milliseconds, names as positions', () => {
  const policy = load(WHOLE);
  expect(policy.uses).toEqual([
    { name: 'looping', signal: 'looping', limits: { times: 5 }, unless: [] },
    { name: 'silent', signal: 'no_activity', limits: { after: 360_000 }, unless: [] },
  ]);
  expect(policy.states.find(({ state }) => state === 'STUCK')?.anyOf).toEqual([[1], [0, 1]]);
  expect(policy.exemptions).toEqual([{ name: 'starting', limits: { grace: 5 } }]);
  expect(policy.plans[0]?.steps.map(({ step }) => step)).toEqual(['nudge', 'escalate', 'recover', 'alert']);
});

test('a nudge without a text contains the finding and the next step', () => {
  expect(load(WHOLE).plans[0]?.steps[0]).toEqual({
    step: 'nudge',
    attempts: 3,
    intervalMs: 600_000,
    message:
      'Vigil watches this session and has found a problem. {finding}\n{advice}\n' +
      'If you cannot continue, write what blocks you, or write a checkpoint and ask for a handoff.',
  });
});

test('the hash depends on the content, not on its notation', () => {
  const other = load(WHOLE.replace('policy: whole', '# the same\npolicy:   whole'));
  expect(other.hash).toBe(load(WHOLE).hash);
  expect(other.hash).toMatch(/^[0-9a-f]{16}$/);
  expect(load(WHOLE.replace('6m', '7m')).hash).not.toBe(other.hash);
  expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true })).toBe('{"a":true,"b":[1,{"c":"x","d":null}]}');
  expect(contentHash('')).toBe('e3b0c44298fc1c14');
});

test('the published document compiles to the same policy', () => {
  const policy = load(WHOLE);
  expect(republished(policy.document, VOCABULARY)).toEqual(policy);
});

test('a breaker with some figures of a policy keeps the defaults of the others', () => {
  const { breakers } = load(`${WHOLE}\nbreakers: { tool_execution: { half_open_requests: 2 } }`);
  expect(breakers.tool_execution).toEqual({ failureThreshold: 5, recoveryTimeoutMs: 30_000, halfOpenRequests: 2 });
  expect(breakers.checkpoint_write).toEqual({ failureThreshold: 3, recoveryTimeoutMs: 120_000, halfOpenRequests: 1 });
  expect(breakers.external_api).toEqual({ failureThreshold: 3, recoveryTimeoutMs: 60_000, halfOpenRequests: 1 });
});
