import { expect, test } from 'vitest';
import { EchoFilter } from './output-reader.ts';

const sent = (...texts: string[]) => {
  const own = new EchoFilter();
  for (const text of texts) own.sent(text);
  return own;
};
const left = (text: string, ...lines: string[]) => {
  const own = sent(text);
  return lines.map((line) => own.takenFrom(line).trim());
};
const TEXT = 'You look stuck on error 17: write what happened,\nthen print DONE when ready';

test("Vigil's text in a line is removed, and the rest stays", () =>
  expect(left(TEXT, `> ${TEXT.replace('\n', ' ')} (fatal)`)).toEqual(['>   (fatal)']));

test('a text that a terminal folds and frames is recognised line by line, to its last word', () =>
  expect(
    left(
      TEXT,
      '│ You look stuck on error 17:   │',
      '│ write what happened, then print │',
      '│ DONE │',
      '│ when ready │',
    ),
  ).toEqual(['', '', '', '']));

test('the signal that a text asks for is the agent’s own when it gives it', () => {
  expect(left(TEXT, 'DONE')).toEqual(['DONE']);
  expect(left(TEXT, '> You look stuck on error 17: write what happened, then print DONE when ready', 'DONE')[1]).toBe(
    'DONE',
  );
});

test("an error that only resembles Vigil's text is the agent's", () =>
  expect(left(TEXT, 'error 18: write what happened', 'error')).toEqual(['error 18: write what happened', 'error']));

test('nothing is removed if nothing was sent; empty and endless lines are harmless', () => {
  expect(new EchoFilter().takenFrom('  error  ')).toBe('  error  ');
  expect(left(TEXT, '', '   ', '│   │')).toEqual(['', '', '│   │']);
  expect(sent(TEXT).takenFrom('|'.repeat(8192))).toHaveLength(8192);
});

test('only the last eight texts are remembered', () => {
  const own = sent('first error here', ...Array.from({ length: 8 }, (_, i) => `text number ${i}`));
  expect(own.takenFrom('first error here')).toBe('first error here');
  expect(own.takenFrom('text number 0').trim()).toBe('');
});
