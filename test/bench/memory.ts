import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Heartbeat, memoryCodec, parseHeartbeat, Topic } from '@vigil/events';
import { Fold } from '@vigil/stream';
import { quiet } from '@vigil/stream/testing';
import { inForceOf, loadPolicies } from '../../services/health-evaluator/src/policies.ts';
import { evaluator } from '../../services/health-evaluator/src/processor.ts';
import { observed } from '../support/observed.ts';
import { working } from './support/heartbeats.ts';
import { type Figure, print, quantile, report } from './support/report.ts';

/**
 * Measures the resident memory of an evaluator whose four partitions are full, without Kafka: with agents at work, and
 * after the same agents have reported as much as is accepted.
 */
const PARTITIONS = 4;
const AGENTS = 10_000;
const ROUNDS = 4;
const BATCH = 500;
const START = Date.UTC(2026, 0, 1);
const INTERVAL_MS = 10_000;
const MIB = 1024 * 1024;

type HeartbeatOf = (agent: string, n: number, at: number) => Heartbeat;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const long = (characters: number, n: number): string => `${n}${'x'.repeat(characters)}`;

/** The most that a heartbeat may report for each list that the state remembers. */
const largest: HeartbeatOf = (agent, n, at) =>
  parseHeartbeat({
    ...working(agent, n, at),
    labels: { text: long(8000, n) },
    instance_id: `${agent}.${long(50, 0)}`,
    tool_calls: Array.from({ length: 30 }, (_, i) => ({
      call_id: long(100, n * 100 + i),
      tool: long(100, i),
      args_hash: long(60, n * 100 + i),
      started_at: at - 700,
      outcome: i % 3 === 0 ? 'running' : 'error',
      error_class: long(100, i),
      deadline_at: at + 120_000,
    })),
  });

const policies = inForceOf(loadPolicies(undefined, { fallback: 'vigil', requestable: 'any' }));
const codec = memoryCodec();
const partitionOf = (partition: number): Fold =>
  new Fold(evaluator(() => policies, AGENTS) as unknown as ConstructorParameters<typeof Fold>[0], {
    codec,
    partition,
    partitions: () => PARTITIONS,
    sources: PARTITIONS,
    count: quiet.count,
  });

const memory = (): number => {
  collect();
  return process.memoryUsage().rss / MIB;
};

const folds = Array.from({ length: PARTITIONS }, (_, partition) => partitionOf(partition));
let rounds = 0;

/** One heartbeat of each agent, in batches as the service commits them. */
const receive = (heartbeat: HeartbeatOf): void => {
  const n = rounds++;
  for (const [partition, fold] of folds.entries())
    for (let a = 0; a < AGENTS; a++) {
      const timestamp = START + n * INTERVAL_MS + Math.floor((a * INTERVAL_MS) / AGENTS);
      const key = `agent-${partition}-${a}`;
      const value = codec.encode(observed(heartbeat(key, n, timestamp), `${key}/${n}`));
      const offset = n * AGENTS + a;
      fold.apply({ topic: Topic.agentObservation, partition, offset, key, value, timestamp, headers: {} });
      if (a % BATCH === BATCH - 1) fold.logic.store.changes();
    }
};

const measured = (name: string, heartbeat: HeartbeatOf): readonly Figure[] => {
  for (let n = 1; n <= ROUNDS; n++) {
    print(`${name}: ${n} of ${ROUNDS}`);
    receive(heartbeat);
  }
  const sizes = folds.flatMap(({ logic: { store } }) => store.keys().map((key) => store.bytes(key)?.length ?? 0));
  return [
    { name: `${name}: agents with a state`, unit: '', runs: [sizes.length] },
    { name: `${name}: state at rest, largest`, unit: 'bytes', runs: [quantile(sizes, 1)] },
    { name: `${name}: memory of the process`, unit: 'MiB', runs: [memory()] },
  ];
};

const empty: Figure = { name: 'without agents: memory of the process', unit: 'MiB', runs: [memory()] };
report('memory', [empty, ...measured('at work', working), ...measured('as much as is accepted', largest)]);
