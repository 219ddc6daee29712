import { expect, test } from 'vitest';
import { evaluate } from './evaluate.ts';
import { at, beat, presetsWith } from './fixture.ts';

test('of those that a tick has passed, the one that is due first is asked first, then by name: as the evaluator does', () => {
  const beats = (['b', 'c', 'a'] as const).map((agent_id, i) => ({
    clock: at(Math.min(i, 1) * 100),
    input: beat(Math.min(i, 1) * 100, { agent_id }),
  }));
  const tick = [...evaluate(presetsWith('demo'), [...beats, { clock: at(20_000), input: null }])].at(-1);
  const stuck = tick?.said.filter(({ type }) => type === 'HEALTH_STATE_CHANGED').map(({ key }) => key);
  expect(stuck).toEqual(['b', 'a', 'c']);
});
