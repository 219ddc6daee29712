import path from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { ON_BOTH_LOGS, ON_POSTGRES } from './src/test-run/arguments.ts';
import { SlowestFirst } from './src/test-run/slowest-first.ts';
import { SUMMARY, summaryReporter } from './src/test-run/summary.ts';

type ProjectConfig = NonNullable<TestProjectInlineConfiguration['test']>;

const summaryFile = process.env[SUMMARY];

const MODULES = '**/node_modules/**';
/** Their policies use limits of seconds, so they fail beside other work. One file runs at a time. */
const stories = ['test/{chaos,scenarios,time,walkthrough}/*.it.test.ts'];

/** They have topics of their own, and end no server: other files may use the same servers meanwhile. */
const separate = ['packages/stream/src/kafka/{log,patch}.it.test.ts'];

/** Ends only tests that hang. Each wait in a test has its own limit, and a property test is slow on a busy machine. */
const limited = (ms: number) => ({ testTimeout: ms, hookTimeout: ms });

const project = (name: string, include: readonly string[], own: ProjectConfig): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: [...include], exclude: [MODULES], ...limited(300_000), ...own },
});

/**
 * `unit` needs no server; `integration`, `separate` and `database` (`*.it.test.ts` beside the code) take their servers' addresses from
 * the environment: see src/test.ts. `system` and `stories` (`*.it.test.ts` in test/) start servers for each file. `clients`
 * (`*.clients.test.ts`) starts its own servers. `cluster` runs the suites on the log with three brokers; `secured` runs
 * the walkthrough under TLS, SCRAM and ACLs; `embedded` runs it on the log in a file. `soak` runs one system for
 * minutes or hours, under faults.
 */
export default defineConfig({
  test: {
    root: path.resolve(import.meta.dirname, '../..'),
    // Processes, not threads: a test file that runs out of memory fails alone instead of ending the run without a report.
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: SlowestFirst },
    reporters: ['default', ...(summaryFile === undefined ? [] : [summaryReporter(summaryFile)])],
    // A filter by name may leave one of the two projects empty.
    passWithNoTests: true,
    globalSetup: path.resolve(import.meta.dirname, 'bootstrap/test-setup.mjs'),
    setupFiles: [path.resolve(import.meta.dirname, 'src/test-run/patience.ts')],
    teardownTimeout: 30_000,
    projects: [
      project('unit', ['{packages,services}/*/src/**/*.test.ts', 'test/**/*.test.ts'], {
        exclude: ['**/*.it.test.ts', '**/*.clients.test.ts', '**/*.soak.test.ts', MODULES],
        // The files of a process share its modules, because their import took most of a run. No test mocks a module.
        isolate: false,
        // Many of them wait for processes that they start.
        maxWorkers: 4,
        // These processes use the bundles.
        env: { NODE_COMPILE_CACHE: path.resolve(import.meta.dirname, '../../.cache/test-compile-cache') },
        ...limited(120_000),
      }),
      // One file at a time: the tests share the topics of one broker.
      project('integration', ['{packages,services}/*/src/**/*.it.test.ts'], {
        exclude: [...separate, ON_POSTGRES, MODULES],
        fileParallelism: false,
        sequence: { groupOrder: 1 },
      }),
      // Two files at a time, on the same servers.
      project('separate', separate, { sequence: { groupOrder: 2 } }),
      // Each file has databases of its own. They run without Kafka, too.
      project('database', [ON_POSTGRES], { sequence: { groupOrder: 2 } }),
      // Two files at a time, each with its own servers.
      project('system', ['test/**/*.it.test.ts'], { exclude: [...stories, MODULES], sequence: { groupOrder: 3 } }),
      project('stories', stories, { fileParallelism: false, sequence: { groupOrder: 4 } }),
      // Suites of "integration" and "system" on three brokers: `npm test cluster` only.
      project('cluster', ['packages/stream/src/kafka/{log,patch}.it.test.ts', 'test/{crash,time}/*.it.test.ts'], {
        fileParallelism: false,
      }),
      // `npm test secured` only: the broker requires each service's own principal, and enforces the ACLs.
      project('secured', ['test/walkthrough/*.it.test.ts'], { fileParallelism: false }),
      // Systems of their own: all services in one process, without Kafka, Java and containers.
      project('embedded', [ON_BOTH_LOGS], {
        env: { VIGIL_TEST_LOG: 'embedded' },
        fileParallelism: false,
        sequence: { groupOrder: 5 },
      }),
      // `npm test soak` only: it takes ten minutes, or what VIGIL_SOAK_MINUTES sets.
      project('soak', ['test/**/*.soak.test.ts'], { fileParallelism: false }),
      // Real coding agents from npm: `npm test clients` only. A session mostly waits; more at once make the clients themselves slow.
      project('clients', ['test/clients/**/*.clients.test.ts'], {
        fileParallelism: false,
        maxConcurrency: 4,
        ...limited(900_000),
      }),
    ],
  },
});
