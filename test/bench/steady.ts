import { SERVICES } from '@vigil/dev';
import { openSystem } from '../support/system.ts';
import { watchCpu } from './support/cpu.ts';
import { processes } from './support/ground.ts';
import { bare } from './support/heartbeats.ts';
import { judgements, latencyAt } from './support/load.ts';
import { memoryOf, treeOf } from './support/memory-of-tree.ts';
import { quantile, report } from './support/report.ts';

/**
 * Measures the time from sending a heartbeat until its decision can be read, with every service, for VIGIL_BENCH_MINUTES.
 * 130,000 agents send the eight required fields every ten seconds. The nodes of the largest Kubernetes cluster renew their
 * leases at that rate.
 */
const AGENTS = 130_000;
const RATE = Number(process.env.VIGIL_BENCH_RATE ?? 13_000);
const MINUTES = Number(process.env.VIGIL_BENCH_MINUTES ?? 15);
const WARM_MS = 60_000;

const test = await openSystem({
  name: 'bench-steady',
  policy: 'vigil',
  env: { VIGIL_AGENTS_PER_PARTITION: String(AGENTS) },
});
const { log, servers, system } = test;
const pids = new Map([...processes(servers, system, SERVICES), ['load and reader', process.pid]]);
const spent = watchCpu(pids);
const fleet = { count: AGENTS, heartbeat: bare };
const latency = await latencyAt(log, judgements(log), RATE, MINUTES * 60_000, WARM_MS, fleet);
const shares = spent();
const megabytes = memoryOf(treeOf(process.pid).filter((pid) => pid !== process.pid));
await test.stop();

report('steady', [
  { name: `${RATE}/s: p50`, unit: 'ms', runs: [latency.p50] },
  { name: `${RATE}/s: p99`, unit: 'ms', runs: [latency.p99] },
  { name: `${RATE}/s: p99 of each minute`, unit: 'ms', runs: latency.p99OfMinutes },
  { name: `${RATE}/s: largest p99 of a minute`, unit: 'ms', runs: [quantile(latency.p99OfMinutes, 1)] },
  { name: 'memory of all servers and services', unit: 'MB', runs: [megabytes] },
  ...[...shares].map(([name, share]) => ({ name, unit: '% of a core', runs: [share] })),
]);
