import { expect, test } from 'vitest';
import { markHidden } from './hidden-text.ts';

test.each(['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff'])('%j in a text is shown as a mark', (hidden) => {
  expect(markHidden(`rm${hidden}all`)).toBe('rm\uFFFDall');
  expect(markHidden(`${hidden}1${hidden} ${hidden}`)).toBe('\uFFFD1\uFFFD \uFFFD');
});

test.each([
  ['an emoji of several', '👩‍💻 👨‍👩‍👧 🏴‍☠️ 🧑🏽‍🚀 ❤️‍🔥'],
  ['Persian', 'می‌خواهم'],
  ['Hindi', 'क्‍ष'],
])('the joiners of %s shape it, and stay', (_, text) => {
  expect(markHidden(text)).toBe(text);
});

test('a joiner that shapes nothing is marked beside those that do', () => {
  expect(markHidden('👩\u200d💻\u200d me\u200ca')).toBe('👩\u200d💻\uFFFD me\uFFFDa');
  expect(markHidden('م\u200bی')).toBe('م\uFFFDی');
});
