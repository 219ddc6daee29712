import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { assignmentSchema, PRESETS, parseYaml, policySchema } from '@vigil/policy';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { VOCABULARY } from '../vocabulary.ts';

const ajv = new Ajv({ allErrors: true, strict: false });
const isPolicy = ajv.compile(policySchema(VOCABULARY));
const isAssignment = ajv.compile(assignmentSchema());
const presets = readdirSync(PRESETS).filter((name) => name.endsWith('.yaml'));
const textOf = (name: string) => readFileSync(path.join(PRESETS, name), 'utf8');
const fits = (text: string) => isPolicy(parseYaml(text, 'test.yaml'));

test.each(presets)('preset %s names its schema, and is valid under it', (name) => {
  const text = textOf(name);
  expect(text).toMatch(/^# yaml-language-server: \$schema=\.\.\/policy\.schema\.json\n/);
  fits(text);
  expect(isPolicy.errors ?? []).toEqual([]);
});

test('a signal takes its own settings, under its own name and under another', () => {
  const using = (use: string) => fits(`{ policy: p, signals: { ${use} }, states: {} }`);
  expect(
    ['no_activity: { after: 6m }', 'silent: { is: no_activity, after: 6m }', 'self_reported_stuck:'].map(using),
  ).toEqual([true, true, true]);
  expect(
    [
      'no_activity: { aftr: 6m }',
      'silent: { is: no_activity, after: 6 }',
      'silent: { after: 6m }',
      'silent: { is: x }',
    ].map(using),
  ).toEqual([false, false, false, false]);
});

test('steps, exemptions and keys that there are not are refused', () => {
  const with_ = (section: string) => fits(`{ policy: p, signals: {}, states: {}, ${section} }`);
  expect(with_('plans: [{ when: STUCK, do: [recover, { nudge: { interval: 5m } }, { alert: ops }] }]')).toBe(true);
  expect(with_('exemptions: { idle: false, starting: { grace: 5m } }')).toBe(true);
  for (const wrong of [
    'plans: [{ when: STUCK, do: [jump] }]',
    'plans: [{ when: STUCK, do: [{ nudge: { interval: soon } }] }]',
    'plans: [{ when: STUCK, do: [{ recover: {}, block: why }] }]',
    'exemptions: { naps: true }',
    'colour: red',
  ])
    expect(with_(wrong)).toBe(false);
});

test('an assignment is valid under its schema, or is refused', () => {
  expect(isAssignment({ rules: [{ id: '^ci', policy: 'vigil', may_request: 'any' }], default: 'vigil' })).toBe(true);
  expect(isAssignment({ rules: [{ id: '^ci' }], default: 'vigil' })).toBe(false);
});
