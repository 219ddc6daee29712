import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutSequences } from './plain-text.ts';

const word = fc.string({ unit: 'grapheme-ascii', maxLength: 8 }).map((text) => text.replaceAll('\u001b', ''));
const sequence = fc.constantFrom(
  '\u001b[31m',
  '\u001b[0;1m',
  '\u001b[2K',
  '\u001b[?25l',
  '\u001b]0;title\u0007',
  '\u001b]8;;u\u001b\\',
);

test('whole sequences are taken out as Node takes them out', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(word, sequence)), (parts) => {
      const text = parts.join('');
      expect(withoutSequences(text)).toBe(stripVTControlCharacters(text));
    }),
  );
});

test.each(['\u001b]', '\u001b]0;a', '\u001b['])('a million beginnings of %j are read once', (begin) => {
  expect(withoutSequences(begin.repeat(1_000_000)).length).toBeLessThan(4_000_000);
});

test('text after a sequence that is not ended does not come back', () => {
  expect(withoutSequences('a\u001b]0;title')).toBe('a');
  expect(withoutSequences('a\u001b[3')).toBe('a');
});
