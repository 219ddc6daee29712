import { expect, it } from 'vitest';
import { patternOf, requestOf } from './arguments.ts';

const matches = (words: readonly string[], name: string): boolean => new RegExp(patternOf(words) ?? '').test(name);

it('a test is run when its name contains all the words, in any order and case', () => {
  expect(matches(['silent', 'Agent'], 'an agent silent for the policy')).toBe(true);
  expect(matches(['silent', 'task'], 'an agent silent for the policy')).toBe(false);
});

it('a word is a text and not a pattern', () => {
  expect(matches(['a.c'], 'abc')).toBe(false);
  expect(matches(['a.c'], 'x a.c y')).toBe(true);
});

it('words in one quoted argument count as separate words', () => {
  expect(requestOf(['silent agent'])).toEqual(requestOf(['silent', 'agent']));
});

it('without words all tests are run', () => expect(requestOf([]).pattern).toBeNull());

it('a folder or file of the clone selects its tests, together with words of their names', () => {
  expect(requestOf(['packages/dev/src', 'a'])).toEqual({ ...requestOf(['a']), paths: ['packages/dev/src'] });
  expect(requestOf(['GET /v1/agents']).paths).toEqual([]);
});

it('--unit selects the tests without servers', () => expect(requestOf(['--unit', 'a']).unitOnly).toBe(true));

it('--watch watches the tests without servers, and no others', () => {
  expect(requestOf(['--unit', '--watch', 'a'])).toEqual({ ...requestOf(['--unit', 'a']), watch: true });
  expect(requestOf(['--unit']).watch).toBe(false);
  expect(() => requestOf(['--watch'])).toThrow('--watch requires --unit');
});

it('an unknown option is refused by its name', () => {
  expect(() => requestOf(['--coverage'])).toThrow('--coverage is not one of them');
  expect(() => requestOf(['--shard'])).toThrow('--shard is not one of them');
});

it('--integration selects the tests that need servers, and excludes --unit', () => {
  expect(requestOf(['--integration', 'a'])).toEqual({ ...requestOf(['a']), integrationOnly: true });
  expect(requestOf([]).integrationOnly).toBe(false);
  expect(() => requestOf(['--unit', '--integration'])).toThrow('exclude each other');
});

it('--shard selects one of the parts into which the test files are divided', () => {
  expect(requestOf(['--integration', '--shard=2/4'])).toEqual({ ...requestOf(['--integration']), shard: '2/4' });
  expect(requestOf(['--integration']).shard).toBeNull();
});

it.each(['clients', 'cluster', 'secured', 'embedded', 'soak'])(
  'the suite %s runs when its name is the first word, and never without it',
  (suite) => {
    expect(requestOf([suite, 'codex'])).toEqual({ ...requestOf(['codex']), suite });
    expect(requestOf(['codex', suite]).suite).toBeNull();
    expect(requestOf([suite, '--unit']).suite).toBeNull();
    expect(requestOf([]).suite).toBeNull();
  },
);

it('the first word "long" selects the long form, alone or before the name of a suite', () => {
  expect(requestOf(['long', 'chaos'])).toEqual({ ...requestOf(['chaos']), long: true });
  expect(requestOf(['long', 'cluster', 'time'])).toEqual({ ...requestOf(['cluster', 'time']), long: true });
  expect(requestOf(['long', '--unit']).long).toBe(true);
  expect(requestOf(['a', 'long', 'command']).long).toBe(false);
  expect(requestOf([]).long).toBe(false);
});
