import { expect, test } from 'vitest';
import { readinessOf } from './probes.ts';

const yes = { ready: () => true };
const no = { ready: () => false };

test('a process that has not started is not ready', () => {
  expect(readinessOf(undefined, false)).toEqual({ ready: false, because: 'starting' });
});

test('a process is ready when every part is, and names the parts that are not', () => {
  expect(readinessOf({ a: yes, b: yes }, false)).toEqual({ ready: true, parts: { a: true, b: true } });
  expect(readinessOf({ a: yes, b: no }, false)).toEqual({ ready: false, parts: { a: true, b: false } });
});

test('a process that is stopping is not ready, also when its parts are', () => {
  expect(readinessOf({ a: yes }, true)).toEqual({ ready: false, because: 'stopping' });
});
