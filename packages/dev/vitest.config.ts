import path from 'node:path';
import { defineConfig } from 'vitest/config';

const modules = '**/node_modules/**';
/** Their policies count in seconds: they fail beside other work, so one file runs at a time. */
const stories = ['test/{chaos,scenarios,time,walkthrough}/*.it.test.ts'];

/**
 * `unit` needs no server; `integration` (`*.it.test.ts` beside the code) takes its servers' addresses from the
 * environment: see src/test.ts. `system` and `stories` (`*.it.test.ts` in test/) start servers for each file. `clients`
 * (`*.clients.test.ts`) starts its own servers. `cluster` is the suites on the log, with three brokers.
 */
export default defineConfig({
  test: {
    root: path.resolve(import.meta.dirname, '../..'),
    // Processes, not threads: a test file that runs out of memory fails alone instead of ending the run without a report.
    pool: 'forks',
    maxWorkers: 2,
    // A filter by name may leave one of the two projects empty.
    passWithNoTests: true,
    globalSetup: path.resolve(import.meta.dirname, 'bootstrap/test-setup.mjs'),
    setupFiles: [path.resolve(import.meta.dirname, 'src/test-run/patience.ts')],
    teardownTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{packages,services}/*/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/*.it.test.ts', '**/*.clients.test.ts', modules],
          // The files of a process share its modules: most of a run was their import. No test mocks a module.
          isolate: false,
          // Only what hangs is ended: on a busy machine a property takes its time.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['{packages,services}/*/src/**/*.it.test.ts'],
          exclude: [modules],
          // One file at a time: the tests share one broker.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          // Only a hanging test is ended, and each wait in a test has its own limit.
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          // Two files at a time, each with its own servers.
          name: 'system',
          include: ['test/**/*.it.test.ts'],
          exclude: [...stories, modules],
          sequence: { groupOrder: 2 },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'stories',
          include: stories,
          exclude: [modules],
          fileParallelism: false,
          sequence: { groupOrder: 3 },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          // Suites of "integration" and "system" on three brokers: `npm test cluster` only.
          name: 'cluster',
          include: ['packages/stream/src/kafka/{log,patch}.it.test.ts', 'test/{crash,time}/*.it.test.ts'],
          exclude: [modules],
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          // Real coding agents from npm: `npm test clients` only.
          name: 'clients',
          include: ['test/clients/**/*.clients.test.ts'],
          exclude: [modules],
          fileParallelism: false,
          // A session mostly waits; more at once make the clients themselves slow.
          maxConcurrency: 4,
          testTimeout: 900_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
