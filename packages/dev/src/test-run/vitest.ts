import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { root } from '../paths.ts';
import { endChildWithUs } from '../survivors.ts';
import type { Suite, TestRequest } from './arguments.ts';

const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');

type Project = 'unit' | 'integration' | Suite;

const argsOf = (command: 'run' | 'list', { pattern }: TestRequest, projects: readonly Project[]): string[] => [
  ...[vitest, command, '--config', 'packages/dev/vitest.config.ts', '--root', root],
  ...projects.flatMap((project) => ['--project', project]),
  ...(pattern === null ? [] : ['-t', pattern]),
];

/** Whether a test that needs servers is asked for. One that cannot be listed is, and then fails where it is seen. */
export const needsServers = (request: TestRequest): boolean => {
  if (request.unitOnly || request.suite === 'clients') return false;
  // A file that cannot be listed without servers is left out of the list, and here there may be no other.
  if (request.suite === 'cluster') return true;
  const args = [...argsOf('list', request, ['integration']), '--json'];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) return true;
  const listed: unknown[] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  return listed.length > 0;
};

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
  return withServers ? ['unit', 'integration'] : ['unit'];
};

/** Runs the tests on this terminal; resolves with the exit code, 1 when a signal ended it. */
export const runVitest = ({ request, withServers, env, report, signal }: VitestRun): Promise<number> =>
  new Promise((resolve, reject) => {
    const args = argsOf('run', request, projectsOf(request, withServers));
    args.push('--reporter=default', '--reporter=json', `--outputFile.json=${report}`);
    const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' });
    endChildWithUs(path.dirname(report), 'vitest', child);
    signal.addEventListener('abort', () => child.kill('SIGTERM'));
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
