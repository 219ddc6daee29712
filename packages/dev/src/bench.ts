import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { benchRequestOf } from './bench-request.ts';
import { root, stateDir } from './paths.ts';
import { interruption } from './processes/interrupt.ts';
import { endChildWithUs } from './processes/survivors.ts';
import { endWith } from './refusal.ts';

const folder = path.join(root, 'test/bench');

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

/**
 * Runs a benchmark as a separate process, with its own servers if it needs any. It ends everything that it has started.
 */
const runOne = async (name: string, options: readonly string[], signal: AbortSignal): Promise<boolean> => {
  const words = [...(SETTINGS[name] ?? []), path.join(folder, `${name}.ts`), ...options];
  const child = spawn(process.execPath, words, { cwd: root, stdio: 'inherit' });
  endChildWithUs(stateDir, `bench-${process.pid}`, child);
  signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  const [status] = await once(child, 'exit');
  return status === 0;
};

const run = async (signal: AbortSignal): Promise<number> => {
  const request = benchRequestOf(process.argv.slice(2), benchmarks());
  if (request.kind === 'help') {
    console.log(request.text);
    return 0;
  }
  const options = request.json ? ['--json'] : [];
  let failed = 0;
  for (const name of request.names) {
    if (signal.aborted) break;
    console.error(`== ${name}`);
    if (!(await runOne(name, options, signal))) failed += 1;
  }
  return failed === 0 ? 0 : 1;
};

const { signal, code } = interruption(process.env);
await run(signal).then((ended) => {
  process.exitCode = code() ?? ended;
}, endWith);
