import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../paths.ts';
import { endChildWithUs } from '../processes/survivors.ts';
import type { Environment } from '../servers/running-servers.ts';
import type { Suite, TestRequest } from './arguments.ts';
import type { Means } from './means.ts';
import { SUMMARY, type Summary } from './summary.ts';

const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');

type Project = 'unit' | 'integration' | 'separate' | 'database' | 'system' | 'stories' | Suite;

const argsOf = ({ pattern, paths, watch, shard }: TestRequest, projects: readonly Project[]): string[] => [
  ...[vitest, watch ? 'watch' : 'run', '--config', 'packages/dev/vitest.config.ts', '--root', root],
  ...projects.flatMap((project) => ['--project', project]),
  ...(pattern === null ? [] : ['-t', pattern]),
  ...(shard === null ? [] : [`--shard=${shard}`]),
  ...paths,
];

/**
 * The servers that are started for all files; null: none. The suite of a name is known only when its file runs, because
 * the list that vitest reads from the source omits whole suites.
 */
export const neededServers = ({ unitOnly, suite }: TestRequest, means: Means): Means | null => {
  if (unitOnly) return null;
  if (suite === null) return means;
  return suite === 'cluster' ? 'kafka' : null;
};

export type VitestRun = {
  readonly request: TestRequest;
  readonly env: Environment;
  readonly means: Means;
  /** where the summary is written */
  readonly summary: string;
  readonly signal: AbortSignal;
};

const ON_SERVERS: Readonly<Record<Means, readonly Project[]>> = {
  kafka: ['integration', 'separate', 'database', 'system', 'stories', 'embedded'],
  embedded: ['database', 'embedded'],
};

const projectsOf = ({ suite, integrationOnly, unitOnly }: TestRequest, means: Means): readonly Project[] => {
  if (suite !== null) return [suite];
  if (unitOnly) return ['unit'];
  return [...(integrationOnly ? [] : ['unit' as const]), ...ON_SERVERS[means]];
};

/** Runs the tests on this terminal; resolves with the exit code, 1 when a signal ended it. */
export const runVitest = ({ request, means, env, summary, signal }: VitestRun): Promise<number> =>
  new Promise((resolve, reject) => {
    const args = argsOf(request, projectsOf(request, means));
    const child = spawn(process.execPath, args, { cwd: root, env: { ...env, [SUMMARY]: summary }, stdio: 'inherit' });
    endChildWithUs(path.dirname(summary), 'vitest', child);
    signal.addEventListener('abort', () => child.kill('SIGTERM'));
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });

const read = (file: string): Summary => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 0 };
  }
};

/**
 * The summary of a run from its file and exit code; a failed run without a failed test, such as a crash, counts as one
 * failure.
 */
export const readSummary = (file: string, code: number): Summary => {
  const summary = read(file);
  return code !== 0 && summary.failed === 0 ? { ...summary, failed: 1 } : summary;
};
