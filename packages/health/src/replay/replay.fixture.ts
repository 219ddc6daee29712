import { type Draft, type Heartbeat, type PolicyRef, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { ASSIGNMENT, type Assignment, asRequested, type CompiledPolicy, PRESETS, readPolicies } from '@vigil/policy';
import { type DeciderProcessor, type RunningProcessor, runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { AT_REST } from '../evaluator/at-rest.ts';
import { agentHealth } from '../evaluator/health.ts';
import type { AgentState } from '../evaluator/state.ts';
import { policiesOf } from '../judgement/policies.ts';
import { VOCABULARY } from '../vocabulary.ts';

export const START = 1_795_305_600_000;

type Evaluator = DeciderProcessor<
  AgentState,
  typeof Topic.agentObservation,
  typeof Topic.agentHealth | typeof Topic.taskHealth | typeof Topic.fleetPresence
>;

const presets = readPolicies([PRESETS], VOCABULARY);
export const presetNamed = (name: string): CompiledPolicy => {
  const found = presets.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no preset ${name}`);
  return found;
};

type InForce = ReturnType<NonNullable<Evaluator['marker']>['rules']>;

const rulesOf = (policies: readonly CompiledPolicy[], assignment: Assignment): InForce => {
  const named = [...policies, { name: ASSIGNMENT, hash: assignment.hash }];
  return {
    value: JSON.stringify(named.map(({ name, hash }): PolicyRef => ({ name, hash }))),
    decider: agentHealth(policiesOf(policies, assignment)),
  };
};

/** An evaluator on a log in memory, as its service declares it, with a clock that the test moves. */
export class EvaluatorOnLog {
  now: number = START;
  readonly log: MemoryLog;
  #running: RunningProcessor | null = null;
  #rules: InForce | null = null;

  constructor(partitions: number) {
    this.log = new MemoryLog({ partitions, now: () => this.now });
  }

  /** Publishes policies and uses them from the next record on. The first is that of every agent. */
  async use(...policies: readonly CompiledPolicy[]): Promise<void> {
    const assignment = asRequested(policies[0]?.name ?? '', []);
    const published = [...policies, { name: ASSIGNMENT, ...assignment }].map(
      ({ name, hash, document }): Draft<typeof Topic.policy> => ({
        ...example(Topic.policy, 'POLICY_PUBLISHED', { name, hash, document }),
        key: hash,
      }),
    );
    await this.log.publish(...published);
    this.#rules = rulesOf(policies, assignment);
  }

  async start(): Promise<void> {
    const rules = () => this.#rules as InForce;
    const processor: Evaluator = {
      processor: 'health-evaluator',
      service: 'health-evaluator',
      reads: [Topic.agentObservation],
      writes: [Topic.agentHealth, Topic.taskHealth, Topic.fleetPresence],
      time: { topic: Topic.agentObservation, sources: 'own' },
      ticks: [],
      decider: rules().decider,
      atRest: AT_REST,
      marker: { topic: Topic.agentHealth, key: '@policy', rules },
    };
    this.#running = await runProcessor(this.log, processor, {
      ...quiet,
      partitions: await this.log.partitionCount(Topic.agentObservation),
    });
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  heartbeat(agent: string, sequence: number, more: Partial<Heartbeat> = {}): void {
    const payload = {
      ...{ agent_id: agent, instance_id: `${agent}.1`, task_id: `${agent}-task`, sequence, timestamp: this.now },
      ...{ policy: null, ingress: null, agent_heartbeat_at: this.now, tool_calls: [], activity: 'working', exit: null },
      ...{ rate_limit: null, output: null, event_driven: false, turn: null, waiting_for: null, parent_agent_id: null },
      ...more,
    } as const;
    const event = example(Topic.agentObservation, 'AGENT_HEARTBEAT', payload as never);
    const origin = { eventId: `${agent}/${sequence}`, correlationId: `${agent}/${sequence}`, occurredAt: this.now };
    const numbers = { stateKey: null, version: null, epoch: null, causationId: null, policy: null };
    this.log.publishRaw(Topic.agentObservation, agent, this.log.codec.encode({ ...event, ...origin, ...numbers }));
  }

  /** Ticks once a second, with what happens before each tick. */
  async pass(seconds: number, before: (second: number) => void = () => {}): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      this.now += 1000;
      before(second);
      this.log.tick(Topic.agentObservation);
      await this.log.settled();
    }
  }
}

/**
 * Three agents under `demo`: one works, one falls silent, one works and is then lost. The evaluator restarts twice:
 * with the policies of `then` after 20 seconds, and at the end.
 */
export const judgedFleet = async (then: readonly CompiledPolicy[] = []): Promise<EvaluatorOnLog> => {
  const on = new EvaluatorOnLog(2);
  await on.use(presetNamed('demo'));
  await on.start();
  const report = (second: number, sequence: number) => {
    on.heartbeat('works', sequence);
    if (second < 5) on.heartbeat('hangs', sequence);
    if (sequence < 30) on.heartbeat('ends', sequence);
  };
  await on.pass(20, (second) => report(second, second + 1));
  await on.stop();
  if (then.length > 0) await on.use(...then);
  await on.start();
  await on.pass(40, (second) => report(99, second + 21));
  await on.stop();
  // The mark of a start names what was read before.
  await on.start();
  await on.pass(1);
  await on.stop();
  return on;
};
