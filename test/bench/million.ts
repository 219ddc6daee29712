import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICES } from '@vigil/dev';
import { type Heartbeat, Topic } from '@vigil/events';
import { partitionOf } from '@vigil/stream';
import { randomFrom } from '../support/faults.ts';
import { openSystem, until } from '../support/system.ts';
import { watchCpu } from './support/cpu.ts';
import { processes } from './support/ground.ts';
import { bare, recordOf } from './support/heartbeats.ts';
import { type Look, look, total } from './support/lag.ts';
import { print, quantile, report } from './support/report.ts';
import { Schedule } from './support/schedule.ts';

/**
 * Runs every service with a million agents on one machine. Each agent sends the eight required fields every 300 s. The
 * benchmark measures the lag, the memory and the processor time for VIGIL_BENCH_MINUTES, while a hundred agents fall
 * silent. Then it kills the evaluator, and measures the time until each of its partitions judges again.
 *
 * VIGIL_BENCH_AGENTS: the agents. VIGIL_BENCH_MINUTES: at least 12, because a silent agent is found after 400 s.
 */
const AGENTS = Number(process.env.VIGIL_BENCH_AGENTS ?? 1_000_000);
const MINUTES = Number(process.env.VIGIL_BENCH_MINUTES ?? 15);
const INTERVAL_MS = 300_000;
/** The policy's limit, plus the millisecond above it. */
const CROSSED_MS = 400_001;
const SILENT = Math.min(100, Math.floor(AGENTS / 10));
const TICK_MS = 1_000;
const STEP_MS = 20;
const LOOK_MS = 10_000;
/** Of new agents, and the records that no service has read yet, above which none is added. */
const INTRODUCED_A_SECOND = 1_500;
const MOST_LAG = 20_000;
const SETTLE_MS = 30_000;
const JUDGING_LIMIT_MS = 300_000;
const AFTER_RESTART_MS = 120_000;
const SEED = 16;

const test = await openSystem({
  name: 'bench-million',
  policy: 'million',
  env: {
    VIGIL_POLICY_DIR: path.join(import.meta.dirname, 'policies'),
    VIGIL_AGENTS_PER_PARTITION: String(AGENTS),
  },
});
const { log, servers, system } = test;
const partitions = await log.partitionCount(Topic.heartbeat);
const stopping = new AbortController();
const names = Array.from({ length: AGENTS }, (_, n) => `agent-${n}`);
const heartbeatOf = (n: number, round: number): Heartbeat => bare(names[n] ?? '', round, Date.now());

/** The agents that fall silent after their next heartbeat, and the time of that one. */
const chosen = new Set<number>();
const silentSince = new Map<string, number>();

const write = async (heartbeats: readonly Heartbeat[]): Promise<void> => {
  if (heartbeats.length > 0) await log.write(heartbeats.map((one) => recordOf(log, partitions, one)));
};

const schedule = new Schedule(AGENTS);
let isMeasured = false;

/** An open loop: each known agent sends a heartbeat an interval after its last one, however late the services are. */
const sendWhenDue = async (): Promise<void> => {
  for (let step = 1; !stopping.signal.aborted; step += 1) {
    const now = performance.now();
    const heartbeats = schedule.take(now).map((n): Heartbeat => {
      if (isMeasured && chosen.has(n)) silentSince.set(names[n] ?? '', Date.now());
      else schedule.add(n, now + INTERVAL_MS);
      return heartbeatOf(n, step);
    });
    await write(heartbeats);
    await sleep(STEP_MS);
  }
};

/** Sends the first heartbeat of each agent, as fast as the services read them: a new agent costs several events. */
const introduce = async (): Promise<void> => {
  let known = 0;
  for (let round = 0; known < AGENTS; round += 1) {
    const since = performance.now();
    const isBehind = !(total(await look(system)) <= MOST_LAG);
    const added = isBehind ? 0 : Math.min(INTRODUCED_A_SECOND, AGENTS - known);
    await write(Array.from({ length: added }, (_, n) => heartbeatOf(known + n, 0)));
    for (let n = known; n < known + added; n += 1) schedule.add(n, since + INTERVAL_MS);
    known += added;
    if (round % 30 === 0)
      print(
        `${known.toLocaleString('en')} of ${AGENTS.toLocaleString('en')} agents are known, ${accused.size} accused`,
      );
    await sleep(Math.max(0, 1_000 - (performance.now() - since)));
  }
};

const accused = new Set<string>();
const found = new Map<string, number>();
const started = new Map<string, number>();
const wasFound = (agentId: string): void => {
  const since = silentSince.get(agentId);
  if (since === undefined) accused.add(agentId);
  else if (!found.has(agentId)) found.set(agentId, Date.now() - since - CROSSED_MS);
};
await log.follow(
  [Topic.agentHealth],
  'end',
  ({ key, value }) => {
    if (key === null || value === null || key.startsWith('@')) return;
    const { type, payload } = log.codec.decode(Topic.agentHealth, value);
    if (type === 'INSTANCE_STARTED' && key.startsWith('probe-')) started.set(key, performance.now());
    if (type === 'HEALTH_STATE_CHANGED' && (payload as { to: string }).to !== 'HEALTHY') wasFound(key);
  },
  stopping.signal,
);

const pids = (): ReadonlyMap<string, number> =>
  new Map([...processes(servers, system, SERVICES), ['load and reader', process.pid]]);

const lookFor = async (what: string, ms: number): Promise<readonly Look[]> => {
  const looks: Look[] = [];
  for (const end = performance.now() + ms; performance.now() < end; ) {
    await sleep(LOOK_MS);
    const seen = await look(system);
    looks.push(seen);
    const lags = [...seen.lags].map(([name, lag]) => `${name} ${lag}`).join(', ');
    print(
      `${what}: ${Math.round((end - performance.now()) / 1000)} s left; ${Math.round(seen.megabytes)} MB; lag ${lags}`,
    );
  }
  return looks;
};

/** The milliseconds until a first heartbeat in each partition, sent again and again, is judged. */
const untilJudging = async (): Promise<number> => {
  const begun = performance.now();
  const probes = Array.from({ length: partitions }, (_, partition) => {
    const name = Array.from({ length: 1_000 }, (_, n) => `probe-${Math.round(begun)}-${n}`);
    return name.find((one) => partitionOf(one, partitions) === partition) ?? '';
  });
  await log.write(probes.map((probe) => recordOf(log, partitions, bare(probe, 1, Date.now()))));
  await until('each partition judges', async () => probes.every((probe) => started.has(probe)), JUDGING_LIMIT_MS);
  return Math.max(...probes.map((probe) => started.get(probe) ?? Number.NaN)) - begun;
};

const random = randomFrom(SEED);
while (chosen.size < SILENT) chosen.add(Math.floor(random() * AGENTS));
const background = sendWhenDue();
await introduce();
isMeasured = true;
await lookFor('a first interval', SETTLE_MS);
const spent = watchCpu(pids());
const looks = await lookFor('all agents are known', MINUTES * 60_000);
const shares = spent();
const third = Math.floor(looks.length / 3);

print('killing the evaluator');
system.service('health-evaluator').kill('SIGKILL');
const judgingMs = await untilJudging();
print(`judging again after ${Math.round(judgingMs)} ms`);
const after = await lookFor('after the restart', AFTER_RESTART_MS);
stopping.abort();
await background;
await test.stop();

const largest = (values: readonly number[]): number => quantile(values, 1);
report('million', [
  { name: 'agents', unit: '', runs: [AGENTS] },
  {
    name: 'lag of all services, last third of the time',
    unit: 'records',
    runs: looks.slice(-third).map(total),
    reference: { name: 'first third', runs: looks.slice(0, third).map(total) },
  },
  {
    name: 'memory of all servers and services, largest',
    unit: 'MB',
    runs: [largest(looks.map((one) => one.megabytes))],
  },
  { name: `hangs found, of ${silentSince.size}`, unit: 'agents', runs: [found.size] },
  { name: 'limit to decision, largest', unit: 'ms', runs: [largest([...found.values()])] },
  { name: 'limit to decision, median', unit: 'ms', runs: [quantile([...found.values()], 0.5)] },
  {
    name: 'of these within two ticks',
    unit: 'agents',
    runs: [[...found.values()].filter((ms) => ms <= 2 * TICK_MS).length],
  },
  { name: 'others that were accused', unit: 'agents', runs: [accused.size] },
  { name: 'evaluator killed, until each partition judges', unit: 'ms', runs: [judgingMs] },
  {
    name: 'lag of all services two minutes later',
    unit: 'records',
    runs: [after.at(-1)].map((one) => (one ? total(one) : Number.NaN)),
  },
  ...[...shares].map(([name, share]) => ({ name, unit: '% of a core', runs: [share] })),
]);
