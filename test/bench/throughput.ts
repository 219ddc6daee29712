import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from '@vigil/dev';
import { Topic } from '@vigil/events';
import type { Log, OutRecord } from '@vigil/stream';
import { spentMs } from './support/cpu.ts';
import { JUDGING, openGround, RUNS } from './support/ground.ts';
import { recordOf, working } from './support/heartbeats.ts';
import { print, report } from './support/report.ts';

/**
 * Measures heartbeats a second through ingest and evaluator, two processes as in the product. Both are frozen while the
 * topic is filled, and timed from their continuation until the last heartbeat of every partition is judged. Also
 * measures the filling, with the same client. The processor time of each depends less on other work of the machine.
 */
const AGENTS = 1_000;
const EACH = 100;
const CHUNK = 5_000;

/** Rounds of heartbeats, and after them in each partition a new agent, whose start is reported at once. */
const recordsOf = (
  log: Log,
  partitions: number,
  run: number,
): { records: readonly OutRecord[]; last: readonly string[] } => {
  const heartbeat = (agent: string, n: number) => recordOf(log, partitions, working(agent, n, Date.now()));
  const records = Array.from({ length: EACH }, (_, n) =>
    Array.from({ length: AGENTS }, (_, a) => heartbeat(`agent-${a}`, run * EACH + n)),
  ).flat();
  const last = Array.from({ length: partitions }, (_, partition) => lastOf(log, partitions, run, partition));
  return { records: [...records, ...last], last: last.map(({ key }) => key ?? '') };
};

const lastOf = (log: Log, partitions: number, run: number, partition: number): OutRecord => {
  for (let n = 0; ; n++) {
    const record = recordOf(log, partitions, working(`last-${run}-${n}`, 1, Date.now()));
    if (record.partition === partition) return record;
  }
};

const fill = async (log: Log, records: readonly OutRecord[]): Promise<number> => {
  const since = performance.now();
  for (let at = 0; at < records.length; at += CHUNK) await log.write(records.slice(at, at + CHUNK));
  return performance.now() - since;
};

const each = (system: System, act: 'freeze' | 'thaw'): void => {
  for (const name of JUDGING) system.service(name)[act]();
};

const ground = await openGround('throughput');
await using _ = ground;
const { log } = ground.test;
const partitions = await log.partitionCount(Topic.heartbeat);
await using system = await ground.start(JUDGING);

const seen = new Set<string>();
const news = new EventEmitter();
const following = new AbortController();
const receive = ({ key }: { key: string | null }) => {
  seen.add(key ?? '');
  news.emit('seen');
};
await log.follow([Topic.agentHealth], 'end', receive, following.signal);

const produced: number[] = [];
const judged: number[] = [];
const spent = new Map(JUDGING.map((name) => [name, [] as number[]]));
const spentBy = (name: (typeof JUDGING)[number]): number => spentMs(system.service(name).pid() ?? 0);
for (let run = 0; run <= RUNS; run++) {
  const { records, last } = recordsOf(log, partitions, run);
  each(system, 'freeze');
  produced.push((records.length * 1_000) / (await fill(log, records)));
  const before = JUDGING.map(spentBy);
  each(system, 'thaw');
  const since = performance.now();
  while (!last.every((key) => seen.has(key))) await once(news, 'seen');
  judged.push((records.length * 1_000) / (performance.now() - since));
  for (const [i, name] of JUDGING.entries())
    spent.get(name)?.push(((spentBy(name) - (before[i] ?? 0)) * 1_000) / records.length);
  print(`run ${run} of ${RUNS}: ${Math.round(judged.at(-1) ?? 0)} heartbeats/s${run === 0 ? ', to warm up' : ''}`);
  await sleep(1_000);
}
following.abort();
const reference = { name: 'produced', runs: produced.slice(1) };
report('throughput', [
  { name: 'through ingest and evaluator', unit: 'heartbeats/s', runs: judged.slice(1), reference },
  ...[...spent].map(([name, runs]) => ({ name, unit: 'µs of a processor a heartbeat', runs: runs.slice(1) })),
  {
    name: 'the evaluator alone, in its own processor time',
    unit: 'heartbeats/s',
    runs: (spent.get('health-evaluator') ?? []).slice(1).map((us) => 1_000_000 / us),
  },
]);
