import { spawn } from 'node:child_process';
import path from 'node:path';
import { root } from '../paths.ts';
import { endChildWithUs } from '../processes/survivors.ts';
import type { Suite, TestRequest } from './arguments.ts';

const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');

type Project = 'unit' | 'integration' | 'system' | Suite;

const argsOf = ({ pattern, watch }: TestRequest, projects: readonly Project[]): string[] => [
  ...[vitest, watch ? 'watch' : 'run', '--config', 'packages/dev/vitest.config.ts', '--root', root],
  ...projects.flatMap((project) => ['--project', project]),
  ...(pattern === null ? [] : ['-t', pattern]),
];

/**
 * Whether servers are started. Which suite a name belongs to is known only when its file runs: the list that vitest
 * reads from the source leaves out whole suites.
 */
export const needsServers = ({ unitOnly, suite }: TestRequest): boolean => !unitOnly && suite !== 'clients';

export type VitestRun = {
  readonly request: TestRequest;
  readonly withServers: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** where the JSON report is written */
  readonly report: string;
  readonly signal: AbortSignal;
};

const projectsOf = ({ suite }: TestRequest, withServers: boolean): readonly Project[] => {
  if (suite !== null) return [suite];
  return withServers ? ['unit', 'integration', 'system'] : ['unit'];
};

/** Runs the tests on this terminal; resolves with the exit code, 1 when a signal ended it. */
export const runVitest = ({ request, withServers, env, report, signal }: VitestRun): Promise<number> =>
  new Promise((resolve, reject) => {
    const args = argsOf(request, projectsOf(request, withServers));
    args.push('--reporter=default', '--reporter=json', `--outputFile.json=${report}`);
    const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' });
    endChildWithUs(path.dirname(report), 'vitest', child);
    signal.addEventListener('abort', () => child.kill('SIGTERM'));
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
