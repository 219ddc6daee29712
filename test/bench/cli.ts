import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { startDemonstration } from './support/demonstration.ts';
import { print, report } from './support/report.ts';

/**
 * Measures the processor time (user and system) of `vigil health` and `vigil explain` on the running demonstration,
 * including the launcher, on the Node of this machine. An empty process is measured for comparison.
 */
const ROUNDS = 11;
/** The shell counts in hundredths of a second. */
const TIMES = 10;
const root = path.resolve(import.meta.dirname, '../..');
const vigil = path.join(root, 'packages/dev/bootstrap/vigil.mjs');
const REPEAT = `i=0; while [ $i -lt ${TIMES} ]; do "$@" >/dev/null 2>&1; i=$((i+1)); done; times`;

/** The PATH without the pinned tools, which `npm run bench` adds at its beginning. */
const PATH = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => !folder.startsWith(root));

/** Milliseconds of one process and its children. */
const cpuTime = (words: readonly string[]): number => {
  const env = { ...process.env, PATH: PATH.join(path.delimiter) };
  const { stdout } = spawnSync('sh', ['-c', REPEAT, 'sh', 'node', ...words], { env, cwd: root, encoding: 'utf8' });
  const children = stdout.trim().split('\n').at(-1) ?? '';
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  return (seconds.reduce((sum, part) => sum + part, 0) * 1000) / TIMES;
};

await using demonstration = await startDemonstration();
const commands = [['health'], ['explain', demonstration.healthyAgent]];
const runsOf = new Map<string, number[]>();
const empty: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  empty.push(cpuTime(['-e', '0']));
  for (const [name = '', ...words] of commands)
    runsOf.set(name, [...(runsOf.get(name) ?? []), cpuTime([vigil, name, ...words])]);
  print(`round ${round + 1} of ${ROUNDS}`);
}
report(
  'cli',
  [...runsOf].map(([name, runs]) => ({
    name: `vigil ${name}: processor time`,
    unit: 'ms',
    runs,
    reference: { name: 'node -e 0', runs: empty },
  })),
);
