import { SERVICES, type ServiceName, type System } from '@vigil/dev';
import { watchCpu } from './support/cpu.ts';
import { JUDGING, openGround, processes, RUNS } from './support/ground.ts';
import { AT_WORK, caughtUp, heartbeats, judgements, type Latency, latencyAt, type Target } from './support/load.ts';
import { type Figure, print, report } from './support/report.ts';

/**
 * Measures the time from sending a heartbeat until a reader of committed records can read the decision: with only
 * ingest and evaluator, and with every service. Also measures the time until the heartbeat itself can be read, without
 * other work.
 */
const RATES = [1_000, 3_333];
const FOR_MS = 15_000;
const WARM_MS = 5_000;

type Measured = {
  readonly rate: number;
  readonly runs: readonly Latency[];
  readonly cpu: ReadonlyMap<string, readonly number[]>;
};

const ground = await openGround('latency');
await using _ = ground;
const { log, servers } = ground.test;

const pidsOf = (system: System | null, services: readonly ServiceName[]): ReadonlyMap<string, number> =>
  new Map([...processes(servers, system, services), ['load and reader', process.pid]]);

const measure = async (
  name: string,
  target: Target,
  pids: ReadonlyMap<string, number>,
): Promise<readonly Measured[]> => {
  const measured: Measured[] = [];
  for (const rate of RATES) {
    const runs: Latency[] = [];
    const cpu = new Map([...pids.keys(), 'everything else'].map((process): [string, number[]] => [process, []]));
    for (let run = 1; run <= RUNS; run++) {
      await caughtUp(log, target);
      const spent = watchCpu(pids);
      runs.push(await latencyAt(log, target, rate, FOR_MS, WARM_MS, AT_WORK));
      for (const [process, share] of spent()) cpu.get(process)?.push(share);
      print(`${name}, ${rate}/s, run ${run} of ${RUNS}: p99 ${Math.round(runs.at(-1)?.p99 ?? 0)} ms`);
    }
    measured.push({ rate, runs, cpu });
  }
  return measured;
};

const figures = (name: string, own: readonly Measured[], reference: readonly Measured[]): readonly Figure[] =>
  own.flatMap(({ rate, runs, cpu }, i) => {
    const beside = (q: 'p50' | 'p99') => ({
      name: 'produce to consume',
      runs: (reference[i]?.runs ?? []).map((run) => run[q]),
    });
    const latency = (['p50', 'p99'] as const).map(
      (q): Figure => ({
        name: `${name}, ${rate}/s: ${q}`,
        unit: 'ms',
        runs: runs.map((run) => run[q]),
        reference: beside(q),
      }),
    );
    const shares = [...cpu].map(
      ([process, shares]): Figure => ({ name: `${name}, ${rate}/s: ${process}`, unit: '% of a core', runs: shares }),
    );
    return [...latency, ...shares];
  });

const withServices = async (name: string, services: readonly ServiceName[]): Promise<readonly Measured[]> => {
  await using system = await ground.start(services);
  return await measure(name, judgements(log), pidsOf(system, services));
};

const alone = await measure('produce to consume', heartbeats(log), pidsOf(null, []));
const judging = await withServices('ingest and evaluator', JUDGING);
const all = await withServices('every service', SERVICES);
report('latency', [...figures('ingest and evaluator', judging, alone), ...figures('every service', all, alone)]);
