import { expect, test } from 'vitest';
import { limitReached, spendingDocument, spentOf } from './spending.ts';

const tokens = (model: string, input_tokens: number, output_tokens: number) => ({
  model,
  input_tokens,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens,
});
const read = (written: unknown) => spendingDocument.parse(written);

test('money without prices and without reported cost is refused, with the place and the remedy', () => {
  const { error } = spendingDocument.safeParse({ task: { usd: 5 } });
  expect(error?.issues).toMatchObject([{ path: ['task', 'usd'], message: expect.stringContaining('spending.prices') }]);
  expect(spendingDocument.safeParse({ task: { usd: 5 }, cost: 'reported' }).success).toBe(true);
  expect(spendingDocument.safeParse({ task: { tokens: 5 } }).success).toBe(true);
});

test('prices take precedence over reported cost, for a million tokens of the first matching model', () => {
  const spending = read({
    prices: { 'claude-opus-*': { input: 15, output: 75 }, '*': { input: 1, output: 2 } },
    cost: 'reported',
  });
  const used = {
    tokens: 3_000_000,
    costUsd: 99,
    usage: [tokens('claude-opus-5-5', 1e6, 1e6), tokens('other', 1e6, 0)],
  };
  expect(spentOf(spending, used)).toEqual({ tokens: 3_000_000, usd: 91 });
});

test('money is unknown if a model has no price, no tokens are reported, or the policy does not use reported cost', () => {
  const spending = read({ prices: { 'a*b': { input: 1, output: 1 } } });
  const used = { tokens: null, costUsd: 3 };
  expect(spentOf(spending, { ...used, usage: [tokens('axb', 1, 1), tokens('axbc', 1, 1)] }).usd).toBeNull();
  expect(spentOf(spending, { ...used, usage: [] }).usd).toBeNull();
  expect(spentOf(read({}), { ...used, usage: [] }).usd).toBeNull();
});

test('a limit is reached when it is used exactly, and unknown use reaches none', () => {
  const limit = { tokens: 100, usd: 2 };
  expect(limitReached(limit, { tokens: 99, usd: 1.99 })).toBeNull();
  expect(limitReached(limit, { tokens: 100, usd: null })).toBe('100 of 100 tokens are used');
  expect(limitReached(limit, { tokens: null, usd: 2 })).toBe('2.00 of 2.00 US dollars are used');
  expect(limitReached(limit, { tokens: null, usd: null })).toBeNull();
  expect(limitReached(null, { tokens: 1e9, usd: 1e9 })).toBeNull();
});
