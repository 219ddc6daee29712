import { type Heartbeat, memoryCodec, Topic } from '@vigil/events';
import {
  type AgentState,
  AT_REST,
  evaluate,
  type Observation,
  type Policies,
  policiesOf,
  type Recorded,
  VOCABULARY,
} from '@vigil/health';
import { PRESETS, readPolicies } from '@vigil/policy';
import { sparse } from '@vigil/stream';
import { bare, working } from './support/heartbeats.ts';
import { type Figure, median, quantile, report } from './support/report.ts';

/** Heartbeats folded by packages/health on one core, without Kafka: beside decoding the same ones from Avro. */
const AGENTS = 1_000;
const SECONDS = 100;
const RUNS = 5;
const form = sparse(AT_REST.usual);
const START = Date.UTC(2026, 0, 1);

type Beat = (agent: string, n: number, at: number) => Heartbeat;

const observed = (payload: Heartbeat, n: number): Observation => ({
  topic: Topic.agentObservation,
  type: 'AGENT_HEARTBEAT',
  key: payload.agent_id,
  payload,
  eventId: `heartbeat/0/${n}`,
  stateKey: null,
  version: null,
  epoch: null,
  occurredAt: payload.timestamp,
  correlationId: `heartbeat/0/${n}`,
  causationId: null,
  policy: null,
});

/** Each second a heartbeat of every agent, then a tick. */
const recordsOf = (beat: Beat): readonly Recorded[] =>
  Array.from({ length: SECONDS }, (_, second) => {
    const now = START + second * 1_000;
    const clock = { now, watched: now, doors: {} };
    const beats = Array.from({ length: AGENTS }, (_, a): Recorded => {
      const n = second * AGENTS + a;
      return { clock, input: observed(beat(`agent-${a}`, second, now), n) };
    });
    return [...beats, { clock, input: null }];
  }).flat();

/** By the time that this process has had a core, its collector's included: what else the machine does is left out. */
const perSecond = (work: () => void): number => {
  const since = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(since);
  return (AGENTS * SECONDS * 1_000_000) / (user + system);
};

const fold = (policies: Policies, records: readonly Recorded[]): ReadonlyMap<string, AgentState> => {
  const states = new Map<string, AgentState>();
  for (const _ of evaluate(policies, records, states));
  return states;
};

const decoding = (records: readonly Recorded[]): (() => void) => {
  const codec = memoryCodec();
  const values = records.flatMap(({ input }) => (input === null ? [] : [codec.encode(input)]));
  return () => {
    for (const value of values) codec.decode(Topic.agentObservation, value);
  };
};

const folded = (policies: Policies, name: string, beat: Beat): readonly Figure[] => {
  const records = recordsOf(beat);
  const decode = decoding(records);
  const runs: { readonly own: number; readonly reference: number }[] = [];
  for (let run = 0; run <= RUNS; run++)
    runs.push({ own: perSecond(() => void fold(policies, records)), reference: perSecond(decode) });
  const warm = runs.slice(1);
  const bytes = [...fold(policies, records).values()].map((state) => form.write(state).length);
  const reference = { name: 'decoding them', runs: warm.map((run) => run.reference) };
  return [
    { name: `${name}: folded`, unit: 'heartbeats/s', runs: warm.map(({ own }) => own), reference },
    { name: `${name}: state at rest, p50`, unit: 'bytes', runs: [median(bytes)] },
    { name: `${name}: state at rest, largest`, unit: 'bytes', runs: [quantile(bytes, 1)] },
  ];
};

const policies = policiesOf(readPolicies([PRESETS], VOCABULARY), 'vigil');
report('fold', [...folded(policies, 'eight fields', bare), ...folded(policies, 'at work', working)]);
