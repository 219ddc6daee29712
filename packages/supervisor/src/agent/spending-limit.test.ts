import { expect, test } from 'vitest';
import { refusalOfAgent } from './spending-limit.ts';

const used = (tokens: number | null) => ({ tokens, usage: [], costUsd: null });
const policy = { policy: 'p', spending: { agent: { tokens: 100 } } };

test('an agent that has used exactly its limit makes no more calls, and receives the reason', () => {
  expect(refusalOfAgent('w', policy, [used(99)])).toBeNull();
  expect(refusalOfAgent('w', policy, [used(100)])).toMatch(
    /^Vigil: the spending limit of agent w is reached: 100 of 100 tokens/,
  );
});

test('without a known use, or without a valid limit, nothing is refused', () => {
  expect(refusalOfAgent('w', policy, [used(null)])).toBeNull();
  expect(refusalOfAgent('w', { policy: 'p', spending: { task: { tokens: 1 } } }, [used(100)])).toBeNull();
  expect(refusalOfAgent('w', { spending: { agent: 'much' } }, [used(100)])).toBeNull();
  expect(refusalOfAgent('w', undefined, [used(100)])).toBeNull();
});

test('what each session of an agent has used counts together: the limit does not begin again with the next session', () => {
  expect(refusalOfAgent('w', policy, [used(60), used(39)])).toBeNull();
  expect(refusalOfAgent('w', policy, [used(60), used(40)])).toContain('100 of 100 tokens');
  expect(refusalOfAgent('w', policy, [used(100), used(null)])).toContain('100 of 100 tokens');
});

test('the cost of sessions counts together, also where the cost of one of them is unknown', () => {
  const limit = { policy: 'p', spending: { agent: { usd: 2 }, cost: 'reported' } };
  const cost = (costUsd: number | null) => ({ tokens: null, usage: [], costUsd });
  expect(refusalOfAgent('w', limit, [cost(1), cost(0.5)])).toBeNull();
  expect(refusalOfAgent('w', limit, [cost(1), cost(null), cost(1)])).toContain('2.00 of 2.00 US dollars');
  expect(refusalOfAgent('w', limit, [cost(null)])).toBeNull();
});
