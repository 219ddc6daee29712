import { expect, test } from 'vitest';
import { withNearest } from './nearest-name.ts';

const message = 'There is no agent "wroker-1": `vigil health` (/v1/agents) lists what there is.';

test('an unknown name has the nearest known one, and no address of the API', () => {
  expect(withNearest(message, ['steady', 'worker-1'])).toBe(
    'There is no agent "wroker-1": did you mean worker-1? `vigil health` lists what there is.',
  );
});

test('where no name is near, up to five are listed, and more are not', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `far-${i}`);
  expect(withNearest(message, names(5))).toContain('": there are far-0, far-1, far-2, far-3, far-4; `vigil health`');
  expect(withNearest(message, names(6))).toBe('There is no agent "wroker-1": `vigil health` lists what there is.');
  expect(withNearest(message, [])).toBe('There is no agent "wroker-1": `vigil health` lists what there is.');
});

test('a name with quotes is read whole', () => {
  const quoted = 'There is no case "a\\"b": `vigil case list` (/v1/cases) lists what there is.';
  expect(withNearest(quoted, ['a"c', 'x'])).toContain('"a\\"b": did you mean a"c?');
});

test('a sentence of another form stays as it is', () => {
  expect(withNearest('There is no agent "missing"', ['missing1'])).toBe('There is no agent "missing"');
});
