import { expect, test } from 'vitest';
import { keyAction } from './keys.ts';

const pressed = (key: string, more: object = {}) => ({
  ...{ key, withModifier: false, inField: false, afterG: false, inView: false },
  ...more,
});

test('g and a letter open a view; the letter alone does nothing', () => {
  expect(keyAction(pressed('f', { afterG: true }))).toEqual({ kind: 'go', view: 'fleet' });
  expect(keyAction(pressed('f'))).toBeNull();
});

test('a key in a field is text, and a key with Ctrl belongs to the browser', () => {
  expect(keyAction(pressed('/'))).toEqual({ kind: 'find' });
  expect(keyAction(pressed('/', { inField: true }))).toBeNull();
  expect(keyAction(pressed('q', { withModifier: true }))).toBeNull();
});

test('q opens the newest operator review, and is text in a field', () => {
  expect(keyAction(pressed('q'))).toEqual({ kind: 'review' });
  expect(keyAction(pressed('q', { inField: true }))).toBeNull();
});

test('an arrow leads to the cells, and Enter opens one, while nothing else has the focus', () => {
  expect(keyAction(pressed('ArrowDown', { inView: true }))).toEqual({ kind: 'cell', isOpened: false });
  expect(keyAction(pressed('Enter', { inView: true }))).toEqual({ kind: 'cell', isOpened: true });
  for (const key of ['ArrowDown', 'Enter']) {
    expect(keyAction(pressed(key))).toBeNull();
    expect(keyAction(pressed(key, { inView: true, inField: true }))).toBeNull();
    expect(keyAction(pressed(key, { inView: true, withModifier: true }))).toBeNull();
  }
});
