import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { benchRequestOf } from './bench-request.ts';
import { root, stateDir } from './paths.ts';
import { interruption } from './processes/interrupt.ts';
import { endChildWithUs } from './processes/survivors.ts';
import { endWith } from './refusal.ts';

const folder = path.join(root, 'test/bench');
const results = path.join(stateDir, 'bench');

const benchmarks = (): readonly string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.basename(file, '.ts'));

/**
 * Node options of benchmarks. Folding is measured on one core, including garbage collection. The young generation holds
 * a state until the next heartbeat of its agent.
 */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  evaluate: ['--single-threaded-gc', '--min-semi-space-size=256', '--max-semi-space-size=256'],
};

const commit = (): string =>
  execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();

/** The file of a benchmark's result at a commit. */
const resultOf = (name: string, at: string): string => path.join(results, at, `${name}.json`);

const runScript = async (words: readonly string[], signal: AbortSignal): Promise<boolean> => {
  const child = spawn(process.execPath, words, { cwd: root, stdio: 'inherit' });
  endChildWithUs(stateDir, `bench-${process.pid}`, child);
  signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  const [status] = await once(child, 'exit');
  return status === 0;
};

/**
 * Runs a benchmark as a separate process, with its own servers if it needs any. It ends everything that it has started,
 * and keeps its result.
 */
const runOne = (name: string, at: string, options: readonly string[], signal: AbortSignal): Promise<boolean> => {
  const result = `--result=${resultOf(name, at)}`;
  return runScript([...(SETTINGS[name] ?? []), path.join(folder, `${name}.ts`), result, ...options], signal);
};

const run = async (signal: AbortSignal): Promise<number> => {
  const request = benchRequestOf(process.argv.slice(2), benchmarks());
  if (request.kind === 'help') {
    console.log(request.text);
    return 0;
  }
  if (request.kind === 'results')
    return (await runScript([path.join(folder, 'support/results.ts'), results], signal)) ? 0 : 1;
  const at = commit();
  mkdirSync(path.join(results, at), { recursive: true });
  const options = request.json ? ['--json'] : [];
  const failed: string[] = [];
  for (const [index, name] of request.names.entries()) {
    if (signal.aborted) break;
    const place = `${index + 1} of ${request.names.length}`;
    if (request.kind === 'continue' && existsSync(resultOf(name, at))) {
      console.error(`== ${name} (${place}): has a result of ${at}`);
      continue;
    }
    console.error(`== ${name} (${place})`);
    if (!(await runOne(name, at, options, signal))) failed.push(name);
  }
  if (failed.length > 0) console.error(`failed: ${failed.join(', ')}`);
  return failed.length === 0 ? 0 : 1;
};

const { signal, code } = interruption(process.env);
await run(signal).then((ended) => {
  process.exitCode = code() ?? ended;
}, endWith);
