import { expect, test } from 'vitest';
import { type Extent, type Key, press, type Situation, START } from './keys.ts';

const agents = Array.from({ length: 30 }, (_, i) => `a${String(i).padStart(2, '0')}`);
const extent: Extent = { shown: agents, lines: 50, page: 10 };

const key = (name: string, more: Partial<Key> = {}): Key => ({ name, ctrl: false, text: undefined, ...more });
const typed = (text: string): Key[] => [...text].map((one) => key(one, { text: one }));

const after = (start: Situation, ...keys: readonly Key[]): Situation => {
  let at = start;
  for (const one of keys) at = press(at, one, extent) ?? expect.unreachable(`${one.name} has ended the view`);
  return at;
};

test('arrows move to the next agent, and stop at the first and the last', () => {
  expect(after(START, key('down'))).toMatchObject({ selected: 'a01', top: 0 });
  expect(after(START, key('up'))).toMatchObject({ selected: 'a00', top: 0 });
  expect(after(START, key('end'))).toMatchObject({ selected: 'a29', top: 20 });
  expect(after(START, key('end'), key('down'))).toMatchObject({ selected: 'a29', top: 20 });
  expect(after(START, key('end'), key('home'))).toMatchObject({ selected: 'a00', top: 0 });
});

test('the list scrolls only when the selected agent leaves the screen', () => {
  const ninth = after(START, ...Array.from({ length: 9 }, () => key('down')));
  expect(ninth).toMatchObject({ selected: 'a09', top: 0 });
  expect(after(ninth, key('down'))).toMatchObject({ selected: 'a10', top: 1 });
  expect(after(START, key('pagedown'), key('pagedown'), key('pageup'))).toMatchObject({ selected: 'a10', top: 10 });
});

test('a changed order keeps the selected agent, not its place', () => {
  const third = after(START, key('down'), key('down'));
  const reordered = { ...extent, shown: ['a02', ...agents.filter((name) => name !== 'a02')] };
  expect(press(third, key('down'), reordered)).toMatchObject({ selected: 'a00' });
});

test('Enter opens the selected agent, its lines scroll, and Esc returns to the same place', () => {
  const opened = after(START, key('pagedown'), key('return'));
  expect(opened).toMatchObject({ kind: 'agent', agentId: 'a10', top: 0 });
  expect(after(opened, key('end'))).toMatchObject({ top: 40 });
  expect(after(opened, key('pagedown'), key('up'))).toMatchObject({ top: 9 });
  expect(after(opened, key('down'), key('escape'))).toMatchObject({ kind: 'fleet', selected: 'a10' });
});

test('a slash begins a search, in which letters are text and not commands', () => {
  const found = after(START, ...typed('/jq'));
  expect(found).toMatchObject({ find: 'jq', isTyping: true });
  expect(after(found, key('backspace'), key('return'))).toMatchObject({ find: 'j', isTyping: false });
  expect(after(found, key('escape'))).toMatchObject({ find: '', isTyping: false });
  expect(after(found, key('return'), key('escape'))).toMatchObject({ find: '' });
});

test('q and Ctrl-C end the view; in a search only Ctrl-C does', () => {
  const opened = after(START, key('return'));
  for (const at of [START, opened]) {
    expect(press(at, key('q', { text: 'q' }), extent)).toBeNull();
    expect(press(at, key('c', { ctrl: true }), extent)).toBeNull();
  }
  const typing = after(START, ...typed('/'));
  expect(press(typing, key('q', { text: 'q' }), extent)).toMatchObject({ find: 'q' });
  expect(press(typing, key('c', { ctrl: true }), extent)).toBeNull();
});

test('control characters do not enter a search, and other keys change nothing', () => {
  const typing = after(START, ...typed('/a'));
  expect(press(typing, key('x', { ctrl: true, text: '\u0018' }), extent)).toEqual(typing);
  expect(press(typing, key('up'), extent)).toEqual(typing);
  expect(press(START, key('f1'), extent)).toEqual(START);
});

test('nothing is opened or selected in an empty list', () => {
  const none = { ...extent, shown: [] };
  for (const name of ['return', 'down', 'end']) expect(press(START, key(name), none)).toEqual(START);
});
