import { expect, test } from 'vitest';
import { dated, readinessOf } from './probes.ts';

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

test('a process names the services that its parts find away, and since when', () => {
  const finds = { ready: () => true, away: () => ({ dashboard: 7 }) };
  expect(readinessOf({ a: yes, b: finds }, false)).toMatchObject({ ready: true, away: { dashboard: 7 } });
  expect(readinessOf({ a: yes, b: { ...finds, away: () => ({}) } }, false)).not.toHaveProperty('away');
});

test('a process that is not ready answers since when: its start, or the first question of this absence', () => {
  let now = 10;
  let isReady = false;
  const ask = dated(
    () => ({ ready: isReady, parts: {} }),
    () => now,
  );
  now = 20;
  expect(ask()).toMatchObject({ ready: false, since: 10 });
  isReady = true;
  expect(ask()).not.toHaveProperty('since');
  isReady = false;
  now = 30;
  expect(ask()).toMatchObject({ since: 30 });
  now = 40;
  expect(ask()).toMatchObject({ since: 30 });
});
