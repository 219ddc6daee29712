import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICES } from '@vigil/dev';
import { Topic } from '@vigil/events';
import { openSystem, until } from '../support/system.ts';
import { bare, recordOf } from './support/heartbeats.ts';
import { look, total } from './support/lag.ts';
import { print, quantile, report } from './support/report.ts';

/**
 * All agents of a fleet fall silent at once, as when their network or their model fails. Measures the time from the
 * limit to the finding of each agent, and until every service has read everything. VIGIL_BENCH_AGENTS: the agents; by
 * default as many as four partitions take.
 */
const AGENTS = Number(process.env.VIGIL_BENCH_AGENTS ?? 40_000);
/** The policy's limit, plus the millisecond above it. */
const CROSSED_MS = 180_001;
const BATCH = 2_000;
const MOST_LAG = 20_000;
/** Marks of time are written all the time. */
const LITTLE_LAG = 200;
const LIMIT_MS = 900_000;

const test = await openSystem({
  name: 'bench-outage',
  policy: 'outage',
  env: {
    VIGIL_POLICY_DIR: path.join(import.meta.dirname, 'policies'),
    VIGIL_AGENTS_PER_PARTITION: String(AGENTS),
  },
});
const { log, system } = test;
const partitions = await log.partitionCount(Topic.heartbeat);
const names = Array.from({ length: AGENTS }, (_, n) => `agent-${n}`);
const stopping = new AbortController();
const lastAt = new Map<string, number>();
const found = new Map<string, number>();
let doubled = 0;
await log.follow(
  [Topic.agentHealth],
  'end',
  ({ key, value }) => {
    if (key === null || value === null || key.startsWith('@')) return;
    const { type, payload } = log.codec.decode(Topic.agentHealth, value);
    if (type !== 'HEALTH_STATE_CHANGED' || (payload as { to: string }).to !== 'STUCK') return;
    if (found.has(key)) doubled += 1;
    found.set(key, Date.now() - (lastAt.get(key) ?? Number.NaN) - CROSSED_MS);
  },
  stopping.signal,
);

/** Sends a heartbeat of each agent, as fast as the services read them if `isGentle`. */
const beat = async (round: number, isGentle: boolean): Promise<void> => {
  for (let from = 0; from < AGENTS; from += BATCH) {
    const at = Date.now();
    const some = names.slice(from, from + BATCH);
    await log.write(some.map((name) => recordOf(log, partitions, bare(name, round, at))));
    for (const name of some) lastAt.set(name, at);
    if (isGentle) await until('the services have read', async () => total(await look(system)) <= MOST_LAG, LIMIT_MS);
  }
};

const pids = () => SERVICES.map((name) => `${name} ${system.service(name).pid()}`);
await beat(0, true);
print(`${AGENTS.toLocaleString('en')} agents are known`);
await beat(1, false);
const before = pids();
const begun = performance.now();
print('all are silent');
const largest = { lag: 0, megabytes: 0 };
await until(
  'all are found',
  async () => {
    await sleep(5_000);
    const seen = await look(system);
    largest.lag = Math.max(largest.lag, total(seen) || 0);
    largest.megabytes = Math.max(largest.megabytes, seen.megabytes);
    const lags = [...seen.lags].map(([name, lag]) => `${name} ${lag}`).join(', ');
    print(`${Math.round((performance.now() - begun) / 1000)} s: ${found.size} found; lag ${lags}`);
    return found.size === AGENTS;
  },
  LIMIT_MS,
);
await until('all services have read everything', async () => total(await look(system)) <= LITTLE_LAG, LIMIT_MS);
const caughtUpS = (performance.now() - begun - CROSSED_MS) / 1000;
const replaced = pids().filter((pid) => !before.includes(pid)).length;
stopping.abort();
await test.stop();

const late = [...found.values()];
report('outage', [
  { name: 'agents silent at once', unit: '', runs: [AGENTS] },
  { name: 'found', unit: 'agents', runs: [found.size] },
  { name: 'found twice', unit: 'agents', runs: [doubled] },
  { name: 'limit to finding, median', unit: 'ms', runs: [quantile(late, 0.5)] },
  { name: 'limit to finding, largest', unit: 'ms', runs: [quantile(late, 1)] },
  { name: 'limit until every service has read everything', unit: 's', runs: [caughtUpS] },
  { name: 'largest lag of all services', unit: 'records', runs: [largest.lag] },
  { name: 'memory of all servers and services, largest', unit: 'MB', runs: [largest.megabytes] },
  { name: 'processes that ended', unit: '', runs: [replaced] },
]);
