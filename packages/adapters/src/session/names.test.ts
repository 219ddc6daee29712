import { ID } from '@vigil/events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asId, subagentId } from './names.ts';

test('a text with a letter or digit becomes an id', () => {
  fc.assert(fc.property(fc.string(), (text) => !/[A-Za-z0-9]/.test(text) || ID.test(asId(text))));
});

test('an id never begins with a dash, because commands would read it as an option', () => {
  expect(asId('--all')).toBe('all');
  expect(asId('-root-repo')).toBe('root-repo');
  expect(asId('a b')).toBe('a-b');
});

test('the id of a sub-agent begins with that of its parent', () => {
  expect(subagentId('worker-1', 'general purpose', '-x1')).toBe('worker-1:general-purpose--x1');
});
