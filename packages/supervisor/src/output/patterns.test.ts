import { patternInAnyCase, pattern as patternOf } from '@vigil/policy';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { compilePatterns, defaultPatterns, type PatternSources } from './patterns.ts';

const NONE: PatternSources = { rate_limit: [], error: [], fatal: [], completion: [], result: [], awaiting_input: [] };
const piece = fc.constantFrom(
  ...['error', 'ERROR', 'Errör', 'errors', ' ', '? ', '[y/n]', 'exception', 'fatal', '429', 'http', 'status '],
  ...['too many requests', 'traceback (', 'rate', '-', 'limit', 'overloaded_error', 'é', '✓', '\t', 'x'],
  '<promise>COMPLETE</promise>',
);
const line = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));

test('patterns that are searched for together find what each finds alone', () => {
  const patterns = compilePatterns(defaultPatterns);
  const isIn = (source: string, text: string) => RE2JS.compile(source, RE2JS.CASE_INSENSITIVE).matcher(text).find();
  fc.assert(
    fc.property(line, (text) => {
      const { rate_limit, error, completion, awaiting_input } = defaultPatterns;
      const alone = [...rate_limit, ...error, ...completion].filter((source) => isIn(source, text));
      expect(patterns.matches(text).map(({ source }) => source)).toEqual(alone);
      expect(patterns.isError(text)).toBe(error.some((source) => isIn(source, text)));
      expect(patterns.asks(text)).toBe(awaiting_input.some((source) => isIn(source, text)));
    }),
  );
});

test('no patterns find nothing', () => {
  const patterns = compilePatterns(NONE);
  expect(patterns.matches('an error')).toEqual([]);
  expect(patterns.isResult('an error')).toBe(false);
});

test('a quotation without an end does not reach into the next pattern', () => {
  const patterns = compilePatterns({ ...NONE, error: ['\\Qa(b', 'c'] });
  expect(patterns.matches('A(B').map(({ source }) => source)).toEqual(['\\Qa(b']);
  expect(patterns.matches('c').map(({ source }) => source)).toEqual(['c']);
});

test('a policy’s pattern has the case that the policy gives it', () => {
  const policy = {
    rate_limit: [patternInAnyCase.parse('quota')],
    error: [patternOf.parse('Broken')],
    ...{ fatal: [], completion: [], tailLines: 0 },
  };
  const { matches } = compilePatterns(NONE, policy);
  expect(matches('QUOTA')).toEqual([{ kind: 'rate_limit', source: 'quota' }]);
  expect(matches('Broken')).toEqual([{ kind: 'error', source: 'Broken' }]);
  expect(matches('broken')).toEqual([]);
});

test('a template’s pattern that is not RE2 is named', () => {
  expect(() => compilePatterns({ ...NONE, fatal: ['a('] })).toThrow('the fatal pattern "a(" is not RE2 syntax');
});
