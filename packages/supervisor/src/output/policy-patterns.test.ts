import { expect, test } from 'vitest';
import { PolicyPatternCache } from './policy-patterns.ts';

const stage = () => {
  const at = { now: 0 };
  const answers = new Map<string, unknown>();
  const asked: string[] = [];
  const logged: string[] = [];
  const policyPatterns = new PolicyPatternCache({
    gateway: {
      policy: async (name) => {
        asked.push(name);
        if (!answers.has(name)) throw new Error('away');
        return answers.get(name);
      },
    },
    clock: { now: () => 0, monotonic: () => at.now },
    logger: (message) => void logged.push(message),
  });
  return { at, answers, asked, logged, policyPatterns };
};
const answer = (hash: string, ...patterns: string[]) => ({
  hash,
  document: { signals: { error_pattern: { patterns } } },
});
const h1 = { name: 'p', hash: 'h1' };

test('a policy is fetched once for all agents of the host, and again when its hash changes', async () => {
  const { policyPatterns, answers, asked } = stage();
  answers.set('p', answer('h1', 'boom'));
  const [one, other] = await Promise.all([policyPatterns.of(h1), policyPatterns.of(h1)]);
  expect(one?.error.map(({ source }) => source)).toEqual(['boom']);
  expect(await policyPatterns.of(h1)).toBe(other);
  expect(asked).toEqual(['p']);
  answers.set('p', answer('h2', 'bang'));
  expect((await policyPatterns.of({ name: 'p', hash: 'h2' }))?.error[0]?.source).toBe('bang');
});

test('a policy that does not come is requested again after ten seconds, and no sooner', async () => {
  const { policyPatterns, answers, asked, at, logged } = stage();
  expect(await policyPatterns.of(h1)).toBeNull();
  answers.set('p', answer('h1'));
  at.now = 9999;
  expect(await policyPatterns.of(h1)).toBeNull();
  expect([asked.length, logged.length]).toEqual([1, 1]);
  at.now = 10_000;
  expect(await policyPatterns.of(h1)).not.toBeNull();
});

test.each([[null], ['text'], [{ hash: 'h1', document: null }, true], [answer('h0', 'old')]])(
  'an answer of %j: known %s',
  async (given, known = false) => {
    const { policyPatterns, answers } = stage();
    answers.set('p', given);
    expect((await policyPatterns.of(h1)) !== null).toBe(known);
  },
);

test('what of a policy is left out is logged', async () => {
  const { policyPatterns, answers, logged } = stage();
  answers.set('p', answer('h1', '(?=x)', 'good'));
  expect((await policyPatterns.of(h1))?.error).toHaveLength(1);
  expect(logged).toEqual(['patterns of a policy cannot be compiled and are not used']);
});
