import { expect, it } from 'vitest';
import { summaryOf } from './summary.ts';
import { readSummary } from './vitest.ts';

const passed = { state: 'passed', tests: ['passed', 'passed'] };

it('passed and failed tests are counted, skipped ones are not', () => {
  const mixed = { state: 'failed', tests: ['passed', 'failed', 'skipped'] };
  expect(summaryOf([passed, mixed, { state: 'skipped', tests: ['skipped'] }])).toEqual({ passed: 3, failed: 1 });
  expect(summaryOf([])).toEqual({ passed: 0, failed: 0 });
});

it('a file that could not be loaded is a failure, although none of its tests failed', () => {
  expect(summaryOf([passed, { state: 'failed', tests: [] }])).toEqual({ passed: 2, failed: 1 });
});

it('a file that fails after its tests have passed, such as in afterAll, is a failure', () => {
  expect(summaryOf([{ state: 'failed', tests: ['passed'] }])).toEqual({ passed: 1, failed: 1 });
});

it('a file whose process crashed is a failure', () => {
  expect(summaryOf([passed, { state: 'pending', tests: ['passed', 'pending'] }])).toEqual({ passed: 3, failed: 1 });
});

it('a failed run without a summary counts as one failure', () => {
  expect(readSummary('/nowhere', 1)).toEqual({ passed: 0, failed: 1 });
});

it('a successful run has no failure', () => {
  expect(readSummary('/nowhere', 0)).toEqual({ passed: 0, failed: 0 });
});
