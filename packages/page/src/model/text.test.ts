import { expect, test } from 'vitest';
import { attemptText, plain, plainJson, sentenceOf } from './text.ts';

test('text of an agent loses escape sequences, and what turns text around becomes a replacement character', () => {
  expect(plain('\u001b]0;title\u0007red \u001b[31malert\u001b[0m')).toBe('red alert');
  expect(plain('file\u202egpj.exe')).toBe('file\uFFFDgpj.exe');
  expect(plain('a\u0000b\u2028c')).toBe('a\uFFFDb\uFFFDc');
  expect(plain('rm\u200b -rf 👩‍💻')).toBe('rm\uFFFD -rf 👩‍💻');
});

test('lines, tabs and other scripts stay as they are', () => {
  expect(plain('one\r\n\ttwo ✓ 你好')).toBe('one\n\ttwo ✓ 你好');
});

test('every text of an answer is made plain, names of fields too, in any notation of JSON', () => {
  const answer = { 'k\u001b[1m': [{ tail: ['\u001b[2Jgone'] }], n: 1, none: null };
  expect(plainJson(JSON.stringify(answer))).toEqual({ k: [{ tail: ['gone'] }], n: 1, none: null });
  for (const text of ['"a\u202eb"', '"a\\u202eb"', '"a\\bb"', '"a\\fb"', '"a\u009fb"', '"a\u200bb"', '"a\\u200bb"'])
    expect(plainJson(text)).toBe('a\uFFFDb');
  expect(plainJson('["a\\nb", "\\"c"]')).toEqual(['a\nb', '"c']);
});

test('the name of a decision becomes a label', () => {
  expect(sentenceOf('terminate_and_recover')).toBe('Terminate and recover');
  expect(sentenceOf('STUCK')).toBe('Stuck');
});

test('the first agent of a task is not an attempt of a recovery', () => {
  expect(attemptText({ attempt: 0, maxAttempts: null })).toBe('first agent');
  expect(attemptText({ attempt: 1, maxAttempts: 3 })).toBe('1 of 3');
  expect(attemptText({ attempt: null, maxAttempts: null })).toBe('-');
});
