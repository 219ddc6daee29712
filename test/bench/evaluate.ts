import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Heartbeat, memoryCodec, Topic } from '@vigil/events';
import { AT_REST, Folding, policiesOf, type Recorded, VOCABULARY } from '@vigil/health';
import { PRESETS, readPolicies } from '@vigil/policy';
import { sparse } from '@vigil/stream';
import { clockAt } from '@vigil/stream/testing';
import { observed } from '../support/observed.ts';
import { bare, working } from './support/heartbeats.ts';
import { type Figure, median, print, quantile, report } from './support/report.ts';

/**
 * Measures the folding of heartbeats by packages/health on one core, without Kafka, with every agent in memory, and the
 * decoding of the same heartbeats from Avro.
 */
const AGENTS = 100_000;
const WARM = 3;
const RUNS = 7;
const INTERVAL_MS = 10_000;
const START = Date.UTC(2026, 0, 1);

type HeartbeatOf = (agent: string, n: number, at: number) => Heartbeat;

const policies = policiesOf(readPolicies([PRESETS], VOCABULARY), 'vigil');
const form = sparse(AT_REST.usual);
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

/** One heartbeat of every agent, spread over an interval, and a tick each second of it. */
const roundOf = (heartbeat: HeartbeatOf, n: number, agents: number): readonly Recorded[] => {
  const records: Recorded[] = [];
  for (let a = 0; a < agents; a++) {
    const now = START + n * INTERVAL_MS + Math.floor((a * INTERVAL_MS) / agents);
    if (a % Math.ceil((agents * 1_000) / INTERVAL_MS) === 0) records.push({ clock: clockAt(now), input: null });
    records.push({
      clock: clockAt(now),
      input: observed(heartbeat(`agent-${a}`, n, now), `heartbeat/0/${n * agents + a}`),
    });
  }
  return records;
};

/**
 * Measured by the processor time of this process, including garbage collection, so that other work of the machine does
 * not count.
 */
const secondsOf = (work: () => void): number => {
  const since = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000_000;
};

const decoding = (records: readonly Recorded[]): (() => void) => {
  const codec = memoryCodec();
  const values = records.flatMap(({ input }) => (input === null ? [] : [codec.encode(input)]));
  return () => {
    for (const value of values) codec.decode(Topic.agentObservation, value);
  };
};

const folded = (name: string, heartbeat: HeartbeatOf): readonly Figure[] => {
  const folding = new Folding(policies);
  const runs: { readonly own: number; readonly reference: number; readonly whole: number }[] = [];
  for (let n = 0; n < WARM + RUNS; n++) {
    print(`${name}: ${n + 1} of ${WARM + RUNS}`);
    const records = roundOf(heartbeat, n, AGENTS);
    const decode = decoding(records);
    collect();
    const reference = AGENTS / secondsOf(decode);
    collect();
    const own = secondsOf(() => {
      for (const record of records) folding.fold(record);
      collect({ type: 'minor' }); // include the cost of its garbage
    });
    runs.push({ own: AGENTS / own, reference, whole: secondsOf(() => collect()) * 1000 });
  }
  const warm = runs.slice(WARM);
  const bytes = [...folding.states()].map(([, state]) => Buffer.byteLength(form.write(state)));
  const reference = { name: 'decoding them', runs: warm.map((run) => run.reference) };
  return [
    { name: `${name}: folded`, unit: 'heartbeats/s', runs: warm.map(({ own }) => own), reference },
    { name: `${name}: collecting the whole heap`, unit: 'ms', runs: warm.map(({ whole }) => whole) },
    { name: `${name}: state at rest, p50`, unit: 'bytes', runs: [median(bytes)] },
    { name: `${name}: state at rest, largest`, unit: 'bytes', runs: [quantile(bytes, 1)] },
  ];
};

const TICKS = 2_000;
const TICK_MS = 10;

/** Ticks while no agent is due: the first deadline of a bare heartbeat is 90 s after it. */
const ticked = (agents: number): Figure => {
  const folding = new Folding(policies);
  for (let n = 0; n < 2; n++) for (const record of roundOf(bare, n, agents)) folding.fold(record);
  let now = START + 2 * INTERVAL_MS;
  while (folding.dueAt <= now) folding.fold({ clock: clockAt(now), input: null });
  collect();
  const runs = Array.from({ length: WARM + RUNS }, () => {
    const seconds = secondsOf(() => {
      for (let i = 0; i < TICKS; i++) {
        now += TICK_MS / RUNS;
        folding.fold({ clock: clockAt(now), input: null });
      }
    });
    return (seconds * 1_000_000) / TICKS;
  });
  return { name: `a tick, ${agents.toLocaleString('en')} agents not due`, unit: 'µs', runs: runs.slice(WARM) };
};

report('evaluate', [
  ...folded('eight fields', bare),
  ...folded('at work', (agent, n, at) => ({ ...working(agent, n, at), interval_ms: INTERVAL_MS })),
  ...[1_000, 10_000, 100_000].map(ticked),
]);
