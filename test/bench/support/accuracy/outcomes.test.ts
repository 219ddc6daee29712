import { expect, test } from 'vitest';
import { emptyMarks, withKnownOutcomes } from './outcomes.ts';
import type { Run } from './runs.ts';

const run = (src: string, success: boolean, ...errs: readonly boolean[]): Run => ({
  src,
  run_id: `${src} ${success}`,
  success,
  label: 'clean',
  calls: errs.map((err) => ({ tool: 't', args_h: 'a', resn_h: 'r', ts: null, err })),
});
const marksOf = (runs: readonly Run[]) => withKnownOutcomes(runs).map(({ calls }) => calls.map(({ err }) => err));

test('the marks of a source that marks all calls as failed, also of successful runs, are unknown', () => {
  const runs = [run('a', true, true), run('a', false, true, true), run('b', true, true, false)];
  expect(emptyMarks(runs)).toEqual([{ name: 'a', calls: 3, successes: 1 }]);
  expect(marksOf(runs)).toEqual([[null], [null, null], [true, false]]);
});

test('one call that succeeded shows that a source distinguishes them', () => {
  const runs = [run('a', true, true), run('a', false, true, false)];
  expect(emptyMarks(runs)).toEqual([]);
  expect(marksOf(runs)).toEqual([[true], [true, false]]);
});

test('a source in which all runs failed may have failed in each call', () => {
  expect(marksOf([run('a', false, true), run('a', false, true)])).toEqual([[true], [true]]);
});
