import { expect, test } from 'vitest';
import { withNearest } from './nearest-name.ts';

const message = 'agent "wroker-1" does not exist; list them with `vigil health` (/v1/agents)';

test('an unknown name has the nearest known one, and no address of the API', () => {
  expect(withNearest(message, ['steady', 'worker-1'])).toBe(
    'agent "wroker-1" does not exist; did you mean worker-1? List them with `vigil health`',
  );
});

test('where no name is near, up to five are listed, and more are not', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `far-${i}`);
  expect(withNearest(message, names(5))).toContain(
    '; use one of far-0, far-1, far-2, far-3, far-4, or list them with `vigil health`',
  );
  expect(withNearest(message, names(6))).toBe('agent "wroker-1" does not exist; list them with `vigil health`');
  expect(withNearest(message, [])).toBe('agent "wroker-1" does not exist; list them with `vigil health`');
});

test('a name with quotes is read whole', () => {
  const quoted = 'case "a\\"b" does not exist; list them with `vigil case list` (/v1/cases)';
  expect(withNearest(quoted, ['a"c', 'x'])).toContain('"a\\"b" does not exist; did you mean a"c?');
});

test('a sentence of another form stays as it is', () => {
  expect(withNearest('agent "missing" is not here', ['missing1'])).toBe('agent "missing" is not here');
});
