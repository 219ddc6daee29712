import { readFileSync } from 'node:fs';

/** What Vitest's JSON reporter writes, as far as it is read here. */
export type Report = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly unknown[];
  }[];
};

export type Summary = { readonly passed: number; readonly failed: number };

/** Tests that passed and failed; a file that could not be loaded counts as one failure. */
export const summaryOf = (report: Report): Summary => {
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + unloaded.length };
};

const read = (file: string): Summary => {
  try {
    return summaryOf(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return { passed: 0, failed: 0 };
  }
};

/**
 * The summary of a run from its report and exit code; a run that failed without a failed test, such as a crash, counts
 * as one failure.
 */
export const readSummary = (file: string, code: number): Summary => {
  const summary = read(file);
  return code !== 0 && summary.failed === 0 ? { ...summary, failed: 1 } : summary;
};
