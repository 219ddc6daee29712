import { expect, test } from 'vitest';
import { whileVisible } from './visible.ts';

const tab = (isVisible: boolean) => {
  const listeners = new Set<() => void>();
  let visible = isVisible;
  let open = 0;
  let begun = 0;
  return {
    visibility: {
      isVisible: () => visible,
      watch: (listener: () => void) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    begin: () => {
      open += 1;
      begun += 1;
      return () => {
        open -= 1;
      };
    },
    show: (value: boolean) => {
      visible = value;
      for (const listener of listeners) listener();
    },
    open: () => open,
    begun: () => begun,
    listeners: () => listeners.size,
  };
};

test('a stream is open while its tab is visible, and one at a time', () => {
  const one = tab(true);
  whileVisible(one.visibility, one.begin);
  expect(one.open()).toBe(1);
  one.show(true);
  expect(one.begun()).toBe(1);
  one.show(false);
  expect(one.open()).toBe(0);
  one.show(true);
  expect([one.open(), one.begun()]).toEqual([1, 2]);
});

test('a tab that opens in the background opens no stream until it is seen', () => {
  const one = tab(false);
  whileVisible(one.visibility, one.begin);
  expect(one.open()).toBe(0);
  one.show(true);
  expect(one.open()).toBe(1);
});

test('a stream that is ended is not opened again', () => {
  const one = tab(true);
  const end = whileVisible(one.visibility, one.begin);
  end();
  one.show(false);
  one.show(true);
  expect([one.open(), one.begun(), one.listeners()]).toEqual([0, 1, 0]);
});
