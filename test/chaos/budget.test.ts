import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { budgetBroken, type Governed } from './budget.ts';

const END = { step: 'terminate', class: 'destructive' } as const;

/** Ends of several agents, each requested and admitted at these seconds. By default each has a runtime of its own. */
const governed = (...ends: readonly (readonly [asked: number, admitted: number, runtimeId?: string])[]): Governed => ({
  asked: ends.map(([asked, , runtimeId], n) => ({
    ...example(Topic.admitStep, 'ADMIT_STEP', {
      requestId: `r${n}`,
      agentId: `agent-${n}`,
      runtimeId: runtimeId ?? `runtime-${n}`,
      ...END,
    }),
    record: { timestamp: asked * 1000 },
  })),
  rulings: ends.map(([, admitted], n) => {
    const event = { requestId: `r${n}`, agentId: `agent-${n}`, validUntil: admitted * 1000 + 30_000 };
    return example(Topic.stepRuling, 'STEP_ADMITTED', { ...event, step: 'terminate' });
  }),
  lookedAt: Array.from({ length: 200 }, (_, second) => second * 1000 + 500),
});

test('two a minute: the third waits until the first is a minute ago, and is ended at the governor’s next decision', () => {
  expect(budgetBroken(governed([1, 3], [1, 3], [2, 63], [2, 63]), 2)).toEqual([]);
  expect(budgetBroken(governed([1, 3], [1, 3], [2, 63.4]), 2)).toEqual([]);
});

test('one more than the budget within a minute is too many', () => {
  expect(budgetBroken(governed([1, 3], [1, 4], [2, 62.9]), 2)).toEqual(['agent-2: number 3 within 59900 ms']);
});

test('a returned admission is not an end', () => {
  const story = governed([1, 3], [1, 4], [2, 62.9]);
  const back = example(Topic.admitStep, 'WITHDRAW_STEP', { requestId: 'r0' });
  expect(budgetBroken({ ...story, asked: [...story.asked, { ...back, record: { timestamp: 5000 } }] }, 2)).toEqual([]);
});

test('an admission to open a case with an end is not an end yet', () => {
  const story = governed([1, 3], [1, 4], [2, 62.9]);
  const asked = story.asked.map((one) => ({ ...one, payload: { ...one.payload, class: 'soft' } }) as typeof one);
  expect(budgetBroken({ ...story, asked: [...asked.slice(0, 1), ...story.asked.slice(1)] }, 2)).toEqual([]);
});

test('the first to request an end is ended first', () => {
  expect(budgetBroken(governed([1, 6], [2, 5]), 2)).toEqual(['agent-0: asked before agent-1, and ended after it']);
});

test('no request waits while there is room', () => {
  expect(budgetBroken(governed([1, 3], [1, 3], [2, 64]), 2)).toEqual(['agent-2: ended 1000 ms after there was room']);
  const late = governed([1, 3], [1, 3], [60, 64]);
  expect(budgetBroken(late, 2)).toEqual([]);
});

test('for one runtime, one more than half of the budget within a minute is too many', () => {
  const second = 'agent-1: number 2 within 59900 ms';
  expect(budgetBroken(governed([1, 3, 'a'], [1, 62.9, 'a']), 2)).toEqual([second]);
  expect(budgetBroken(governed([1, 3, 'a'], [1, 63.4, 'a']), 2)).toEqual([]);
});

test('another runtime may be first while the share of the earlier one is used up, and only then', () => {
  expect(budgetBroken(governed([1, 3, 'a'], [2, 63.4, 'a'], [3, 5, 'b']), 2)).toEqual([]);
  const passed = 'agent-1: asked before agent-2, and ended after it';
  expect(budgetBroken(governed([1, 3, 'a'], [2, 63.4, 'b'], [3, 5, 'c']), 2)).toContain(passed);
  expect(budgetBroken(governed([1, 3, 'a'], [2, 130, 'a'], [3, 125, 'b']), 2)).toContain(passed);
});
