import { PRESETS, readPolicies, republished } from '@vigil/policy';
import { expect, test } from 'vitest';
import { policiesOf } from './policies.ts';
import { VOCABULARY } from './rules.ts';

const presets = readPolicies([PRESETS], VOCABULARY);

test.each(presets)('preset $name has no mistake and nothing to warn of', (policy) => {
  expect(policy.warnings).toEqual([]);
  expect(republished(policy.document, VOCABULARY)).toEqual(policy);
});

test('demo judges by the same signals, states and plans as vigil', () => {
  const [demo, vigil] = ['demo', 'vigil'].map((name) => presets.find((policy) => policy.name === name));
  expect(demo?.uses.map(({ name, signal }) => [name, signal])).toEqual(
    vigil?.uses.map(({ name, signal }) => [name, signal]),
  );
  expect(demo?.states).toEqual(vigil?.states);
  expect(demo?.plans.map(({ name, steps }) => [name, steps.map(({ step }) => step)])).toEqual(
    vigil?.plans.map(({ name, steps }) => [name, steps.map(({ step }) => step)]),
  );
});

test('a default that is not loaded is refused, naming those that are', () => {
  expect(() => policiesOf(presets, 'nobody')).toThrow(/name one of .*demo, .*vigil/);
});
