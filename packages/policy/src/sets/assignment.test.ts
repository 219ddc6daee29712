import { expect, test } from 'vitest';
import { compile } from '../compile/compile.ts';
import { mistakesOf, VOCABULARY } from '../fixture.ts';
import { excludes } from '../values/patterns.ts';
import { asRequested, assigner, isAssignable, type Requestable, readAssignment, unknownIn } from './assignment.ts';

const THERE = ['vigil', 'botbox', 'hive'];
const isThere = (name: string) => THERE.includes(name);
const given = (
  document: unknown,
  agentId: string,
  labels: Record<string, string> = {},
  requestedPolicy: string | null = null,
) => assigner(readAssignment(document, 'assign.yaml'), isThere)({ agentId, labels, requestedPolicy });

const RULES = {
  rules: [
    { id: '^ci-', labels: { team: 'core' }, policy: 'botbox', may_request: ['hive'] },
    { labels: { team: 'core' }, policy: 'hive' },
  ],
  default: 'vigil',
};

test('the first matching rule sets the policy; without one it is the default', () => {
  expect(given(RULES, 'ci-1', { team: 'core' })).toBe('botbox');
  expect(given(RULES, 'x-ci-1', { team: 'core' })).toBe('hive');
  expect(given(RULES, 'ci-1', { team: 'web' })).toBe('vigil');
  expect(given(RULES, 'ci-1')).toBe('vigil');
});

test('an agent gets the policy that it requests only if its rule lists it', () => {
  expect(given(RULES, 'ci-1', { team: 'core' }, 'hive')).toBe('hive');
  expect(given(RULES, 'ci-1', { team: 'core' }, 'vigil')).toBe('botbox');
  expect(given(RULES, 'dev-1', { team: 'core' }, 'botbox')).toBe('hive');
  expect(given(RULES, 'dev-1', {}, 'hive')).toBe('vigil');
});

test('without an assignment, an agent gets the policy that it requests only if the operator has listed it', () => {
  const requested = (requestable: Requestable) =>
    ['hive', 'botbox', 'gone', null].map((requestedPolicy) =>
      assigner(asRequested('vigil', requestable), isThere)({ agentId: 'a', labels: {}, requestedPolicy }),
    );
  expect(requested([])).toEqual(['vigil', 'vigil', 'vigil', 'vigil']);
  expect(requested(['hive'])).toEqual(['hive', 'vigil', 'vigil', 'vigil']);
  expect(requested('any')).toEqual(['hive', 'botbox', 'vigil', 'vigil']);
});

test('every mistake is reported, with its rule and remedy', () => {
  expect(
    mistakesOf(() =>
      readAssignment({ rules: [{ policy: 'vigil', lables: {} }, { id: 5 }], defalt: 'vigil' }, 'assign.yaml'),
    ),
  ).toEqual([
    'rules[0].lables: there is no such key: did you mean labels?',
    'rules[1].id: 5 is not a text: write a text',
    'rules[1].policy: is missing: write a text',
    'default: is missing: write a text',
    'defalt: there is no such key: did you mean default?',
  ]);
  expect(mistakesOf(() => readAssignment({ rules: [{ id: '(', policy: 'vigil' }], default: 'vigil' }, 'f'))).toEqual([
    expect.stringMatching(/^rules\[0\]\.id: "\(" is not an RE2 pattern/),
  ]);
});

test('unknown policies are reported, with the nearest known name', () => {
  const assignment = readAssignment(
    { rules: [{ policy: 'botbx', may_request: ['hive', 'gone'] }], default: 'vigli' },
    'f',
  );
  expect(unknownIn(assignment, THERE)).toEqual([
    'rules[0].policy: there is no policy botbx: did you mean botbox?',
    'rules[0].may_request[1]: there is no policy gone: write one of vigil, botbox, hive',
    'default: there is no policy vigli: did you mean vigil?',
  ]);
});

test('a policy is assignable by a rule, by a permission, and as the default', () => {
  const assignment = readAssignment({ rules: [{ policy: 'a', may_request: ['b'] }], default: 'c' }, 'f');
  expect(['a', 'b', 'c', 'd'].map((name) => isAssignable(assignment, name))).toEqual([true, true, true, false]);
  const any = readAssignment({ rules: [{ policy: 'a', may_request: 'any' }], default: 'c' }, 'f');
  expect(isAssignable(any, 'd')).toBe(true);
});

test('a rule after a more general one is never reached', () => {
  const rules = [{ labels: { team: 'core' }, policy: 'hive' }, ...RULES.rules, { id: '^x', policy: 'vigil' }];
  expect(readAssignment({ rules, default: 'vigil' }, 'f').warnings).toEqual([
    'rules[1]: is never reached: rules[0] holds first; move it up, or remove it',
    'rules[2]: is never reached: rules[0] holds first; move it up, or remove it',
  ]);
  expect(readAssignment(RULES, 'f').warnings).toEqual([]);
});

test("Vigil's own processes are always excluded, others only by a pattern", () => {
  const none = { exclude: [] };
  expect(['vigil', 'vigil:alerting', 'vigil.runtime'].map((id) => excludes(none, id))).toEqual([true, true, true]);
  expect(['vigilant', 'vigil-worker', 'my.vigil', 'dog-1'].map((id) => excludes(none, id))).toEqual(
    Array(4).fill(false),
  );
  expect(excludes({ exclude: ['^dog-'] }, 'dog-1')).toBe(true);
});

test('a bad pattern is reported together with a value of a wrong type', () => {
  expect(mistakesOf(() => readAssignment({ rules: [{ id: '(', policy: 5 }], default: 'a' }, 'assign.yaml'))).toEqual([
    expect.stringMatching(/^rules\[0\]\.id: "\(" is not an RE2 pattern/),
    'rules[0].policy: 5 is not a text: write a text',
  ]);
});

test('a document that is nested too deep is a mistake of its writer, not a crash', () => {
  const nested = (levels: number): unknown => {
    let value: unknown = 1;
    for (let n = 0; n < levels; n += 1) value = [value];
    return value;
  };
  const mistake = ['is nested deeper than 100 levels: write a flatter document'];
  expect(mistakesOf(() => readAssignment({ default: nested(20_000) }, 'f'))).toEqual(mistake);
  expect(mistakesOf(() => compile({ policy: nested(20_000) }, 'f', VOCABULARY))).toEqual(mistake);
  expect(mistakesOf(() => readAssignment({ default: nested(100) }, 'f'))).toEqual(mistake);
  expect(mistakesOf(() => readAssignment({ default: nested(99) }, 'f'))).not.toEqual(mistake);
});
