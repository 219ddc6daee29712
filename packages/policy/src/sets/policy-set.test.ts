import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkFiles } from '../compile/check.ts';
import { load, mistakesOf, VOCABULARY } from '../fixture.ts';
import { canonicalJson } from '../values/canonical.ts';
import { asRequested } from './assignment.ts';
import { readPolicies } from './files.ts';
import { type Application, applied, type PolicySet, policySet } from './policy-set.ts';

const document = (name: string, times = 5) => ({
  policy: name,
  signals: { looping: { times } },
  states: { STUCK: ['looping'] },
});
const file = { origin: 'file', by: 'health-evaluator', why: null, at: null } as const;
const policy = (name: string) => load(JSON.stringify(document(name)));
const FILES: PolicySet = policySet(
  [
    { ...file, policy: policy('a') },
    { ...file, policy: policy('b') },
  ],
  { ...file, assignment: asRequested('a', 'any') },
);
const asking = (name: string, written: unknown): Application => ({
  name,
  document: written === null ? null : canonicalJson(written),
  by: 'ada',
  why: 'a test',
  at: 7,
});
const apply = (set: PolicySet, name: string, written: unknown) =>
  applied(set, FILES, asking(name, written), VOCABULARY);
const brief = (set: PolicySet) =>
  set.policies.map(({ policy: { name, uses }, origin }) => [name, origin, uses[0]?.limits]);

test('an applied document replaces the one with its name; after its removal the file is in force again', () => {
  const set = apply(FILES, 'a', document('a', 9));
  expect(brief(set)).toEqual([
    ['a', 'applied', { times: 9 }],
    ['b', 'file', { times: 5 }],
  ]);
  expect(brief(apply(set, 'a', null))).toEqual(brief(FILES));
});

test('a new policy is in force until it is removed', () => {
  const set = apply(FILES, 'c', document('c'));
  expect(brief(set).map(([name]) => name)).toEqual(['a', 'b', 'c']);
  expect(brief(apply(set, 'c', null)).map(([name]) => name)).toEqual(['a', 'b']);
});

test('an assignment is applied like a policy, and refused if it names an unknown policy', () => {
  const set = apply(FILES, 'assign.yaml', { default: 'b' });
  expect(set.assignment).toMatchObject({ origin: 'applied', by: 'ada', assignment: { fallback: 'b' } });
  expect(apply(set, 'assign.yaml', null).assignment).toMatchObject({ origin: 'file', assignment: { fallback: 'a' } });
  expect(mistakesOf(() => apply(FILES, 'assign.yaml', { default: 'c' }))).toEqual([
    'default: there is no policy c: write one of a, b',
  ]);
});

test('a policy that is assigned to agents cannot be removed', () => {
  const set = apply(apply(FILES, 'c', document('c')), 'assign.yaml', { default: 'c' });
  expect(mistakesOf(() => apply(set, 'c', null))).toEqual(['default: there is no policy c: write one of a, b']);
});

test('a document with mistakes, of another name, or of another type, is refused', () => {
  expect(mistakesOf(() => apply(FILES, 'a', { policy: 'a', signals: { lopping: {} }, states: {} }))).toHaveLength(1);
  expect(mistakesOf(() => apply(FILES, 'a', document('b')))).toEqual([
    'policy: b was applied under the name a: write a',
  ]);
  const garbage = { ...asking('a', {}), document: '{' };
  expect(mistakesOf(() => applied(FILES, FILES, garbage, VOCABULARY))).toEqual([
    expect.stringMatching(/^document: is not JSON/),
  ]);
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'vigil-policies-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the mistakes of all files of a directory are one message; the same name in two files is a mistake', () => {
  const write = (name: string, written: unknown) => writeFileSync(path.join(folder, name), JSON.stringify(written));
  write('one.yaml', document('same'));
  write('three.yaml', { policy: 'three', signals: { lopping: {} }, states: {} });
  write('two.yaml', document('same'));
  write('assign.yaml', { default: 'same' });
  expect(mistakesOf(() => readPolicies([folder], VOCABULARY))).toEqual([
    expect.stringMatching(/three\.yaml: signals\.lopping: there is no signal lopping: did you mean looping\?/),
    expect.stringMatching(/two\.yaml: policy: same is the name of one\.yaml too: rename one of them$/),
  ]);
});

test('a *.yml file of a directory is reported, and is read if it is named itself', () => {
  const [missed, read] = ['missed.yml', 'read.yaml'].map((name) => path.join(folder, name)) as [string, string];
  writeFileSync(missed, JSON.stringify(document('missed')));
  writeFileSync(read, JSON.stringify(document('read')));
  expect(mistakesOf(() => checkFiles([folder], VOCABULARY, []))).toEqual([
    `${missed}: is not read, because only the *.yaml files of a directory are: rename it`,
  ]);
  expect(checkFiles([missed, read], VOCABULARY, []).map(({ name }) => name)).toEqual(['missed', 'read']);
});
