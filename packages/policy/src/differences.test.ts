import { expect, test } from 'vitest';
import { differences } from './differences.ts';

test('what differs is told by path, in words; what is only written otherwise is not', () => {
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
