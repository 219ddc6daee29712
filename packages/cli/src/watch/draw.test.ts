import { expect, test } from 'vitest';
import { changes, openDrawing } from './draw.ts';

test('only changed lines are written, each at its place', () => {
  expect(changes(['a', 'b', 'c'], ['a', 'x', 'c'], 9)).toBe('\u001b[2;1H\u001b[Kx');
  expect(changes(['a', 'b'], ['a', 'b'], 9)).toBe('');
});

test('a shorter screen leaves nothing of the longer one', () => {
  expect(changes(['a', 'b', 'c'], ['a'], 9)).toBe('\u001b[2;1H\u001b[J');
});

test('without a known screen every line is written, and what is below is removed', () => {
  expect(changes(null, ['a', 'b'], 9)).toBe('\u001b[1;1H\u001b[Ka\u001b[2;1H\u001b[Kb\u001b[3;1H\u001b[J');
});

test('a screen that fills the terminal keeps its last line', () => {
  expect(changes(null, ['a', 'b'], 2)).toBe('\u001b[1;1H\u001b[Ka\u001b[2;1H\u001b[Kb');
});

test('the lines of the shell, its cursor and its long lines return at the end', () => {
  const written: string[] = [];
  const drawing = openDrawing((text) => written.push(text));
  drawing.draw(['a'], 9);
  drawing.draw(['a'], 9);
  drawing.forget();
  drawing.draw(['a'], 9);
  drawing.leave();
  expect(written).toHaveLength(4);
  expect(written[0]).toContain('\u001b[?1049h');
  expect(written[1]).toBe(written[2]);
  expect(written[3]).toBe('\u001b[?7h\u001b[?25h\u001b[?1049l');
});
