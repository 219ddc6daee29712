import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICES } from '@vigil/dev';
import { watchCpu } from './support/cpu.ts';
import { openGround, processes, RUNS } from './support/ground.ts';
import { report } from './support/report.ts';

/** Measures the cost of all processes while no agent reports. Ticks keep them busy. */
const FOR_MS = 30_000;
const SETTLE_MS = 10_000;

const ground = await openGround('idle');
await using _ = ground;
await using system = await ground.start();
await sleep(SETTLE_MS);

const shares = new Map<string, number[]>();
for (let run = 0; run < RUNS; run++) {
  const spent = watchCpu(processes(ground.test.servers, system, SERVICES));
  await sleep(FOR_MS);
  for (const [name, share] of spent()) shares.set(name, [...(shares.get(name) ?? []), share]);
}
report(
  'idle',
  [...shares].map(([name, runs]) => ({ name, unit: '% of a core', runs })),
);
