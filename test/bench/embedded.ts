import { setTimeout as sleep } from 'node:timers/promises';
import { watchCpu } from './support/cpu.ts';
import { startDemonstration, startVigil } from './support/demonstration.ts';
import { RUNS } from './support/ground.ts';
import { memoryOf, treeOf } from './support/memory-of-tree.ts';
import { print, report } from './support/report.ts';

/**
 * Measures Vigil on a log in one file, on a clone in which it has run before. First the time from the command until it
 * shows a HEALTHY agent, which may be one of the run before; then the cost of all its processes at rest. Node compiles
 * code in the first minutes, so the latter is measured after them.
 */
const FOR_MS = 30_000;
const SETTLE_MS = 240_000;

const seconds: number[] = [];
for (let run = 0; run <= RUNS; run++) {
  const { stages, ...demonstration } = await startDemonstration('--embedded');
  await demonstration[Symbol.asyncDispose]();
  print(run === 0 ? 'the first start only warms the clone' : `run ${run} of ${RUNS}`);
  if (run > 0) seconds.push(stages.at(-1)?.seconds ?? Number.NaN);
}

await using atRest = await startVigil('--embedded', '--no-demo');
await sleep(SETTLE_MS);
const shares: number[] = [];
const megabytes: number[] = [];
for (let run = 0; run < RUNS; run++) {
  const pids = treeOf(atRest.pid);
  const spent = watchCpu(new Map(pids.map((pid) => [String(pid), pid])));
  await sleep(FOR_MS);
  const { 'everything else': _, ...own } = Object.fromEntries(spent());
  shares.push(Object.values(own).reduce((sum, share) => sum + (Number.isNaN(share) ? 0 : share), 0));
  megabytes.push(memoryOf(pids));
}
report('embedded', [
  { name: 'until a HEALTHY agent is shown', unit: 's', runs: seconds },
  { name: 'all processes at rest', unit: '% of a core', runs: shares },
  { name: 'memory of all processes', unit: 'MB', runs: megabytes },
]);
