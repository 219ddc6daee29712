import path from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

type ProjectConfig = NonNullable<TestProjectInlineConfiguration['test']>;

const MODULES = '**/node_modules/**';
/** Their policies count in seconds: they fail beside other work, so one file runs at a time. */
const stories = ['test/{chaos,scenarios,time,walkthrough}/*.it.test.ts'];

/** Only a test that hangs is ended: each wait in a test has its own limit, and on a busy machine a property takes its time. */
const limited = (ms: number) => ({ testTimeout: ms, hookTimeout: ms });

const project = (name: string, include: readonly string[], own: ProjectConfig): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: [...include], exclude: [MODULES], ...limited(300_000), ...own },
});

/**
 * `unit` needs no server; `integration` (`*.it.test.ts` beside the code) takes its servers' addresses from the
 * environment: see src/test.ts. `system` and `stories` (`*.it.test.ts` in test/) start servers for each file. `clients`
 * (`*.clients.test.ts`) starts its own servers. `cluster` is the suites on the log, with three brokers; `secured` is the walkthrough under TLS, SCRAM and ACLs.
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
      project('unit', ['{packages,services}/*/src/**/*.test.ts', 'test/**/*.test.ts'], {
        exclude: ['**/*.it.test.ts', '**/*.clients.test.ts', MODULES],
        // The files of a process share its modules: most of a run was their import. No test mocks a module.
        isolate: false,
        // Many of them wait for processes that they start.
        maxWorkers: 4,
        // These processes find their modules compiled.
        env: { NODE_COMPILE_CACHE: path.resolve(import.meta.dirname, '../../.cache/test-compile-cache') },
        ...limited(120_000),
      }),
      // One file at a time: the tests share one broker.
      project('integration', ['{packages,services}/*/src/**/*.it.test.ts'], {
        fileParallelism: false,
        sequence: { groupOrder: 1 },
      }),
      // Two files at a time, each with its own servers.
      project('system', ['test/**/*.it.test.ts'], { exclude: [...stories, MODULES], sequence: { groupOrder: 2 } }),
      project('stories', stories, { fileParallelism: false, sequence: { groupOrder: 3 } }),
      // Suites of "integration" and "system" on three brokers: `npm test cluster` only.
      project('cluster', ['packages/stream/src/kafka/{log,patch}.it.test.ts', 'test/{crash,time}/*.it.test.ts'], {
        fileParallelism: false,
      }),
      // `npm test secured` only: the broker asks each service for its own principal, and allows it what ACLs allow.
      project('secured', ['test/walkthrough/*.it.test.ts'], { fileParallelism: false }),
      // Real coding agents from npm: `npm test clients` only. A session mostly waits; more at once make the clients themselves slow.
      project('clients', ['test/clients/**/*.clients.test.ts'], {
        fileParallelism: false,
        maxConcurrency: 4,
        ...limited(900_000),
      }),
    ],
  },
});
