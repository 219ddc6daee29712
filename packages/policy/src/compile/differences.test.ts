import { expect, test } from 'vitest';
import { differences } from './differences.ts';

test('a difference is reported by path and described; a difference in notation only is not', () => {
  const before = {
    signals: { silent: { after: '6m' }, looping: {} },
    enabled: true,
    plans: [{ when: 'STUCK', do: ['recover'] }],
  };
  const after = {
    plans: [{ when: ['STUCK', 'FAILING'], do: ['recover', { alert: 'ops' }] }],
    signals: { silent: { after: '480s' } },
    enabled: true,
  };
  expect(differences(before, after)).toEqual([
    { path: 'plans[0].do', old: 'recover', new: null },
    { path: 'plans[0].do[0]', old: null, new: 'recover' },
    { path: 'plans[0].do[1].alert', old: null, new: 'ops' },
    { path: 'plans[0].when', old: 'STUCK', new: 'STUCK, FAILING' },
    { path: 'signals.looping', old: 'as usual', new: null },
    { path: 'signals.silent.after', old: '6 min', new: '8 min' },
  ]);
  expect(differences({ a: '60s' }, { a: '1m' })).toEqual([]);
});

const one = (before: unknown, after: unknown) => {
  const [found, ...more] = differences({ at: before }, { at: after });
  expect(more).toEqual([]);
  return found && [found.old, found.new];
};

test('durations with the same description are shown as they are written', () => {
  expect(one('90500ms', '90900ms')).toEqual(['90500ms', '90900ms']);
  expect(one('3600s', '3659s')).toEqual(['1 h', '3659s']);
  expect(one('1.5s', '3s')).toEqual(['1.5s', '3 s']);
  expect(one('1.5s', '1500ms')).toBeUndefined();
  expect(one('3660s', '61m')).toBeUndefined();
  expect(one(['1m', '90500ms'], ['60s', '90900ms'])).toEqual(['1 min, 90500ms', '1 min, 90900ms']);
});

test('values with the same description are shown with their quotes', () => {
  expect(one(['a', 'b'], ['a, b'])).toEqual(['["a","b"]', '"a, b"']);
  expect(one(5, '5')).toEqual(['5', '"5"']);
  expect(one(true, 'on')).toEqual(['true', '"on"']);
  expect(one(null, 'none')).toEqual(['null', '"none"']);
  expect(one([], 'nothing')).toEqual(['[]', '"nothing"']);
  expect(one({}, 'as usual')).toEqual(['{}', '"as usual"']);
  expect(one('6m', '6 min')).toEqual(['"6m"', '"6 min"']);
});

test('a list of one entry equals the entry alone', () => {
  expect(one('STUCK', ['STUCK'])).toBeUndefined();
  expect(one(['5'], 5)).toEqual(['"5"', '5']);
});
