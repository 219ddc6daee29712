import { setTimeout as sleep } from 'node:timers/promises';
import { Topic } from '@vigil/events';
import { logSource, type Verified, verify } from '@vigil/health/replay';
import type { Log, PartitionRange } from '@vigil/stream';
import { JUDGING, openGround, RUNS } from './support/ground.ts';
import { recordOf, working } from './support/heartbeats.ts';
import { print, report } from './support/report.ts';

/**
 * Measures heartbeats a second of `vigil replay verify`, with its start and reading from Kafka, on all cores. Then of the
 * same on one thread. Ingest and evaluator have judged the heartbeats before, as two processes, and have ended. Beside it:
 * reading the same records without decoding them.
 */
const AGENTS = 1_000;
const EACH = 1_200;
const LOOK_MS = 200;

const { signal } = new AbortController();

const fill = async (log: Log, partitions: number): Promise<void> => {
  for (let n = 0; n < EACH; n++)
    await log.write(
      Array.from({ length: AGENTS }, (_, a) => recordOf(log, partitions, working(`agent-${a}`, n, Date.now()))),
    );
};

/** Waits until the evaluator has published that it has read every heartbeat. */
const judged = async (log: Log): Promise<void> => {
  for (;;) {
    const bounds = await log.bounds(Topic.agentObservation);
    const count = bounds.reduce((sum, { high }) => sum + high, 0);
    const positions = await log.groupOffsets('health-evaluator', Topic.agentObservation);
    if (count >= AGENTS * EACH && bounds.every(({ high }, partition) => (positions[partition] ?? 0) >= high - 50))
      return;
    await sleep(LOOK_MS);
  }
};

const rangesOf = async (log: Log): Promise<readonly PartitionRange[]> =>
  (await log.bounds(Topic.agentObservation)).map((range, partition) => ({
    topic: Topic.agentObservation,
    partition,
    ...range,
  }));

const ground = await openGround('replay');
await using _ = ground;
const { log } = ground.test;
{
  await using _system = await ground.start(JUDGING);
  await fill(log, await log.partitionCount(Topic.heartbeat));
  print('the heartbeats are written; waiting until they are judged …');
  await judged(log);
}

/** Runs the command as a person does. Throws where a decision differs. */
const runCommand = async (): Promise<number> => {
  const since = performance.now();
  const { code, stdout, stderr } = await ground.test.vigil('replay', 'verify', '--json');
  if (code !== 0) throw new Error(`vigil replay verify ended with ${code}: ${stderr}`);
  const { observations } = JSON.parse(stdout) as Verified;
  return (observations * 1_000) / (performance.now() - since);
};

const commands: number[] = [];
const verified: number[] = [];
const spent: number[] = [];
const read: number[] = [];
for (let run = 0; run <= RUNS; run++) {
  commands.push(await runCommand());
  const [since, cpu] = [performance.now(), process.cpuUsage()];
  const source = await logSource(log, { from: null, to: null, agent: null }, () => {});
  const { observations, decisions, differences } = await verify(source, signal);
  verified.push((observations * 1_000) / (performance.now() - since));
  const { user, system } = process.cpuUsage(cpu);
  spent.push((user + system) / observations);
  print(`${observations} observations, ${decisions} decisions, ${differences.length} differences`);
  const before = performance.now();
  let records = 0;
  await log.readRanges(await rangesOf(log), () => void records++, signal);
  read.push((records * 1_000) / (performance.now() - before));
}
const measured = (runs: readonly number[]) => runs.slice(1);
report('replay', [
  {
    name: 'vigil replay verify, with its start',
    unit: 'heartbeats/s',
    runs: measured(commands),
    reference: { name: 'read without decoding', runs: measured(read) },
  },
  {
    name: 'verified on one thread',
    unit: 'heartbeats/s',
    runs: measured(verified),
    reference: { name: 'read without decoding', runs: measured(read) },
  },
  { name: 'processor time of the reader', unit: 'µs/heartbeat', runs: measured(spent) },
]);
