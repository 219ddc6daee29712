import { expect, test } from 'vitest';
import { contextOf } from './transcript.ts';

const counts = { input_tokens: 1000, cache_read_tokens: 20, cache_write_tokens: 300, output_tokens: 4 };
const windowOf = (model: string | null) => contextOf({ ...counts, model })?.tokens_max ?? null;

test('the used context is the whole request and the answer', () => {
  expect(contextOf({ ...counts, model: 'claude-opus-5-5' })).toEqual({ tokens_used: 1324, tokens_max: 1_000_000 });
});

test.each([
  ['claude-opus-4-6', 1_000_000],
  ['claude-sonnet-5-20260301', 1_000_000],
  ['claude-opus-4-5-20251101', 200_000],
  ['claude-sonnet-4-20250514', 200_000],
  ['claude-3-5-sonnet-20241022', 200_000],
])('the window of %s is %i tokens', (model, tokens) => {
  expect(windowOf(model)).toBe(tokens);
});

test.each([['gateway/big-model'], ['claude'], [null]])('the window of %s is unknown', (model) => {
  expect(windowOf(model)).toBeNull();
});
