import { expect, test } from 'vitest';
import { z } from 'zod';
import { canonicalJson, contentHash } from './canonical.ts';
import { loadPolicy } from './compile.ts';
import type { Vocabulary } from './compiled.ts';
import { duration, parseDuration, spell } from './duration.ts';
import { CorrectThePolicy } from './errors.ts';
import { republished } from './files.ts';

const VOCABULARY: Vocabulary = {
  signals: {
    no_activity: { axis: 'absence', limits: z.strictObject({ after: duration }) },
    looping: { axis: 'repetition', limits: z.strictObject({ times: z.int().default(5) }) },
  },
  exemptions: {
    idle: { limits: z.strictObject({}) },
    starting: { limits: z.strictObject({ grace: duration.default(5) }) },
  },
};
const load = (text: string) => loadPolicy(text, 'test.yaml', VOCABULARY);
const mistakesIn = (text: string): readonly string[] => {
  try {
    load(text);
    return [];
  } catch (error) {
    if (error instanceof CorrectThePolicy) return error.mistakes;
    throw error;
  }
};

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

test('durations are read with their unit, and spelled for people', () => {
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

test("a nudge that gives no text carries coditect's reminder to the letter", () => {
  expect(load(WHOLE).plans[0]?.steps[0]).toEqual({
    step: 'nudge',
    attempts: 3,
    intervalMs: 600_000,
    message:
      'REMINDER: You have been working for {duration} without\ncheckpoint update. Please either:\n- Update your progress\n- Request handoff if stuck\n- Report blockers',
  });
});

test('the hash is of what is said, not of how it is written', () => {
  const other = load(WHOLE.replace('policy: whole', '# the same\npolicy:   whole'));
  expect(other.hash).toBe(load(WHOLE).hash);
  expect(other.hash).toMatch(/^[0-9a-f]{16}$/);
  expect(load(WHOLE.replace('6m', '7m')).hash).not.toBe(other.hash);
  expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true })).toBe('{"a":true,"b":[1,{"c":"x","d":null}]}');
  expect(contentHash('')).toBe('e3b0c44298fc1c14');
});

test('what is published compiles to the same policy', () => {
  const policy = load(WHOLE);
  expect(republished(policy.document, VOCABULARY)).toEqual(policy);
});

test('every mistake is named at once, with its place and what to write', () => {
  expect(
    mistakesIn(`
policy: bad
colour: red
signals: { silent: { is: nothing }, no_activity: { after: 10 }, looping: { tims: 4 } }
states: { STUCK: [unheard, looping] }
exemptions: { naps: true }
exclude: ['ok', '(']
warrant: { renew: 60s, void: 60s }
plans: [{ when: STUCKED, do: [{ nudge: { interval: soon } }, jump] }]
`),
  ).toEqual([
    'plans[0].do[0].nudge.interval: "soon" is no duration: write one like 10m, 60s or 500ms',
    expect.stringMatching(/^plans\[0\]\.do\[1\]: "jump" is no step: write one of nudge, /),
    'document: Unrecognized key: "colour": correct its spelling or remove it',
    'signals.looping: Unrecognized key: "tims": correct its spelling or remove it',
    'signals.no_activity.after: 10 is no duration: write one like 10m, 60s or 500ms',
    'signals.silent: there is no signal nothing: write one of no_activity, looping',
    'exemptions.naps: there is no such exemption: write one of idle, starting',
    expect.stringMatching(/^exclude\[1\]: "\(" is no RE2 pattern/),
    expect.stringMatching(/^warrant\.void: 1 min is not above warrant\.renew/),
    'states.STUCK[0]: unheard is not declared: add it under signals, as "unheard: {}"',
  ]);
});

test('a plan for something that is neither state nor signal nor exemption is a mistake', () => {
  expect(mistakesIn('{ policy: p, signals: {}, states: {}, plans: [{ when: STUCKED, do: [recover] }] }')).toEqual([
    expect.stringMatching(/^plans\[0\]\.when: STUCKED is neither a state/),
  ]);
});

test('YAML that cannot be read is a mistake like any other', () => {
  expect(mistakesIn('policy: [')).toHaveLength(1);
});

test('a limit of absence that one lost heartbeat would pass is warned of', () => {
  const at = (after: string) =>
    load(`{ policy: p, heartbeat: { interval: 1s }, signals: { no_activity: { after: ${after} } }, states: {} }`)
      .warnings;
  expect(at('5s')).toHaveLength(1);
  expect(at('5001ms')).toEqual([]);
});
