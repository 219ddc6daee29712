import { writeFileSync } from 'node:fs';
import type { Reporter } from 'vitest/node';

/** The variable with the file for the summary. */
export const SUMMARY = 'VIGIL_TEST_SUMMARY';

export type Summary = { readonly passed: number; readonly failed: number };

/** A test file: its state, and those of its tests. */
type TestedFile = { readonly state: string; readonly tests: readonly string[] };

/** Tests that passed and failed; a file that failed without a failed test, or did not finish, counts as one failure. */
export const summaryOf = (files: readonly TestedFile[]): Summary => {
  const tests = files.flatMap((file) => file.tests);
  const count = (state: string): number => tests.filter((one) => one === state).length;
  const broken = files.filter(
    ({ state, tests }) => state !== 'passed' && state !== 'skipped' && !tests.includes('failed'),
  );
  return { passed: count('passed'), failed: count('failed') + broken.length };
};

/** Writes the summary of each run. Vitest's own report would print the name of a file that is gone when the run ends. */
export const summaryReporter = (file: string): Reporter => ({
  onTestRunEnd: (modules) => {
    const files = modules.map((module) => ({
      state: module.state(),
      tests: [...module.children.allTests()].map((test) => test.result().state),
    }));
    writeFileSync(file, JSON.stringify(summaryOf(files)));
  },
});
