import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { boundaryProblems } from './boundaries/boundaries.ts';
import { generatedFiles } from './generate/files.ts';
import { root } from './paths.ts';

/** What is wrong, as text; empty when nothing is. */
type Step = readonly [name: string, problems: () => string];

const fix = process.argv.includes('--fix');

const tool = (name: string, ...args: readonly string[]): string => {
  const bin = path.join(root, 'node_modules/.bin', name);
  const { status, stdout, stderr } = spawnSync(bin, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 });
  return status === 0 ? '' : `${stdout}${stderr}`.trim() || `${name} ended with ${status}`;
};

const stale = (): string => {
  if (fix) spawnSync(process.execPath, ['packages/dev/src/generate.ts'], { cwd: root });
  const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const files = [...generatedFiles(root)].filter(([file, text]) => textOf(path.join(root, file)) !== text);
  return files.map(([file]) => `${file} is not what its source says: npm run generate`).join('\n');
};

const steps: readonly Step[] = [
  ['generated', stale],
  ['types', () => tool('tsc', '-p', '.')],
  ['lint', () => tool('biome', 'check', ...(fix ? ['--write'] : []), '.')],
  ['boundaries', () => boundaryProblems(root).join('\n')],
  ['unused', () => tool('knip', '--config', 'packages/dev/knip.json', '--no-progress', '--no-config-hints')],
];

const passes = ([name, problems]: Step): boolean => {
  const since = performance.now();
  const found = problems();
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  console.log(
    `${found === '' ? 'ok    ' : 'failed'} ${name.padEnd(12)} ${seconds} s${found === '' ? '' : `\n${found}\n`}`,
  );
  return found === '';
};

const passed = steps.map(passes).filter(Boolean).length;
console.log(`${passed} passed, ${steps.length - passed} failed`);
process.exitCode = passed === steps.length ? 0 : 1;
