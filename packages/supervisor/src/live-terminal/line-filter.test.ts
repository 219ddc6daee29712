import { expect, test } from 'vitest';
import { safeLine, safeOutput, withoutKeys } from './line-filter.ts';
import { LONGEST_LINE } from './window.ts';

const shown = (lines: readonly string[]): readonly string[] => withoutKeys(lines).map(safeLine);
const key = ['MIIEpAIBAAKCAQEA1234567890abcdef', 'abcdefghijklmnop+/=='];

test.each([
  ['export OPENAI_API_KEY=sk-abcdefghijklmnopqrstuv', 'export OPENAI_API_KEY=[redacted]'],
  ['Authorization: Bearer abcdefghijkl', 'Authorization: Bearer [redacted]'],
  ['cloning https://ada:hunter2@example.org/x.git', 'cloning https://ada:[redacted]@example.org/x.git'],
  ['2 tests passed, 0 failed', '2 tests passed, 0 failed'],
])('a secret of a line is left out, and nothing else: %s', (line, expected) => {
  expect(shown([line])).toEqual([expected]);
});

test('a private key is left out over all its lines', () => {
  const lines = ['before', '-----BEGIN RSA PRIVATE KEY-----', ...key, '-----END RSA PRIVATE KEY-----', 'after'];
  expect(shown(lines)).toEqual(['before', ...Array.from({ length: 4 }, () => '[redacted]'), 'after']);
});

test('a private key is left out as well where its beginning has left the screen, or its end is not there yet', () => {
  expect(shown([...key, '-----END PRIVATE KEY-----', 'after'])).toEqual([
    ...['[redacted]', '[redacted]', '[redacted]'],
    'after',
  ]);
  expect(shown(['-----BEGIN PRIVATE KEY-----', ...key])).toEqual(['[redacted]', '[redacted]', '[redacted]']);
});

test('the beginning of a key alone hides no other text', () => {
  expect(shown(['grep "-----BEGIN PRIVATE KEY-----" *', 'no match', 'done'])).toEqual([
    '[redacted]',
    'no match',
    'done',
  ]);
});

test('half of a secret at the longest length of a line is not left', () => {
  const line = `${'x'.repeat(LONGEST_LINE - 5)} ghp_abcdefghijklmnopqrstuvwxyz`;
  expect(safeLine(line).slice(0, LONGEST_LINE)).not.toContain('ghp');
});

test('characters that control a screen, or turn the text around them, are replaced', () => {
  expect(safeLine('a\u001b[31mb\u009bc\u202ed\u{e0041}')).toBe('a\uFFFD[31mb\uFFFDc\uFFFDd\uFFFD');
});

test('a line of any length is cut before it is searched', () => {
  expect(safeLine('0'.repeat(1_000_000))).toHaveLength(2 * LONGEST_LINE);
});

test('the output in a report has no secret, and keeps its tabs as spaces', () => {
  expect(safeOutput(['\tAPI_KEY=abcdefgh', '-----BEGIN PRIVATE KEY-----', ...key])).toEqual([
    '  API_KEY=[redacted]',
    ...['[redacted]', '[redacted]', '[redacted]'],
  ]);
});
