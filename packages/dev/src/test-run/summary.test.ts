import { expect, it } from 'vitest';
import { readSummary, summaryOf } from './vitest.ts';

const file = (status: string, tests: number) => ({
  name: 'x.test.ts',
  status,
  assertionResults: Array(tests).fill({}),
});

it('passed and failed tests are counted', () => {
  const report = {
    numPassedTests: 3,
    numFailedTests: 1,
    numTotalTests: 4,
    testResults: [file('passed', 2), file('failed', 2)],
  };
  expect(summaryOf(report)).toEqual({ passed: 3, failed: 1 });
});

it('a file that could not be loaded is a failure, although none of its tests failed', () => {
  const report = {
    numPassedTests: 2,
    numFailedTests: 0,
    numTotalTests: 2,
    testResults: [file('passed', 2), file('failed', 0)],
  };
  expect(summaryOf(report)).toEqual({ passed: 2, failed: 1 });
});

it('a failed run without a report counts as one failure', () => {
  expect(readSummary('/nowhere', 1)).toEqual({ passed: 0, failed: 1 });
});

it('a successful run has no failure', () => {
  expect(readSummary('/nowhere', 0)).toEqual({ passed: 0, failed: 0 });
});
