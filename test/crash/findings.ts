import { type HealthEvent, Topic } from '@vigil/events';
import { policiesOf, VOCABULARY } from '@vigil/health';
import { PRESETS, readPolicies } from '@vigil/policy';
import type { HerdAgent } from '../support/herd/agent.ts';
import { byKey, recordedDecisions, refold } from '../support/refold.ts';
import { lastValues, rememberedVersions } from '../support/settled.ts';
import type { TestSystem } from '../support/system.ts';
import { casesTooMany } from './cases.ts';
import type { Evidence } from './trial.ts';

/** The elements that occur more than once. */
const repeated = (keys: readonly (string | null)[]): readonly string[] => {
  const counts = Map.groupBy(keys, (key) => String(key));
  return [...counts].filter(([, each]) => each.length > 1).map(([key, each]) => `${key}: ${each.length} times`);
};

/** Compares every input that ingest has read, by its position in the log, with its output: `lost` and `doubled`. */
export const observedOnce = async (on: TestSystem) => {
  const next = new Map<string, number>(
    [...lastValues(await on.records(Topic.snapshotHeartbeatIngest)).values()].flatMap(({ key, partition, value }) =>
      value === null ? [] : [[`${key}/${partition}`, (JSON.parse(value.toString()) as { next: number }).next] as const],
    ),
  );
  const reported: string[] = [];
  for (const { topic, partition, offset, key } of await on.records(Topic.heartbeat)) {
    const passed = offset < (next.get(`@position/${topic}/${partition}`) ?? 0);
    if (passed && !key?.startsWith('@')) reported.push(`${topic}/${partition}/${offset}`);
  }
  const controlled = (await on.events(Topic.controlAgent)).map(({ eventId }) => eventId);
  const causes = (await on.events(Topic.agentObservation)).map(({ causationId }) => String(causationId));
  const there = new Set(causes);
  const lost = [...reported, ...controlled].filter((place) => !there.has(place));
  return { reported: reported.length, lost, doubled: repeated(causes) };
};

/** Compares the states with the log. A processor that restored a wrong state would count wrongly. */
export const misremembered = async ({ on, versions }: Evidence): Promise<readonly string[]> => {
  const wrong: string[] = [];
  for (const [decider, last] of versions.last) {
    const remembered = await rememberedVersions(on, `onex.snapshot.${decider}.state.v1`);
    for (const [key, version] of remembered)
      if (version !== (last.get(key) ?? 0)) wrong.push(`${decider} ${key}: ${version}, written ${last.get(key)}`);
  }
  return wrong;
};

/** The evaluator's recorded decisions, and the decisions from folding the same observations again. */
export const foldedAgain = async (on: TestSystem) => {
  const policies = policiesOf(readPolicies([PRESETS], VOCABULARY), 'demo');
  const again = refold(on.log, policies, await on.records(Topic.agentObservation));
  const recorded = recordedDecisions([
    ...(await on.events(Topic.agentHealth)),
    ...(await on.events(Topic.taskHealth)),
    ...(await on.events(Topic.fleetPresence)),
  ]);
  return { again: byKey(again), recorded: byKey(recorded) };
};

const FLAGGED_STATES: ReadonlySet<string> = new Set(['DEGRADED', 'STUCK', 'FAILING', 'TERMINATED']);

/** Agents with a finding, except the failing ones. */
export const falselyFlagged = async ({ on, herd }: Evidence): Promise<readonly string[]> => {
  const failing = new Set<string | null>(
    herd.agents.filter(({ behaviour }) => behaviour !== 'works').map(({ agentId }) => agentId),
  );
  return (await on.events(Topic.agentHealth)).flatMap((event) => {
    if (failing.has(event.payload.agentId)) return [];
    if (event.type === 'WARRANT_FILED') return [`${event.payload.agentId}: a warrant`];
    if (event.type !== 'HEALTH_STATE_CHANGED' || !FLAGGED_STATES.has(event.payload.to)) return [];
    return [`${event.payload.agentId}: ${event.payload.to}, ${event.payload.reason}`];
  });
};

/** The failing agents that were not found: without a warrant, or without an end. */
export const notFound = async ({ on, herd }: Pick<Evidence, 'on' | 'herd'>): Promise<readonly string[]> => {
  const health = await on.events(Topic.agentHealth);
  const filed = new Set(health.flatMap((each) => (each.type === 'WARRANT_FILED' ? [each.payload.agentId] : [])));
  const ended = new Set(
    health.flatMap((each) =>
      each.type === 'HEALTH_STATE_CHANGED' && each.payload.to === 'TERMINATED' ? [each.payload.agentId] : [],
    ),
  );
  const failing = herd.agents.filter(({ behaviour }: HerdAgent) => behaviour !== 'works');
  return failing.flatMap(({ agentId }) => (filed.has(agentId) && ended.has(agentId) ? [] : [agentId]));
};

type Emitted = HealthEvent & { readonly payload: Readonly<Record<string, unknown>> };

/** Actions that were decided more than once, with their keys. */
export const doneTwice = async ({ on }: Evidence): Promise<Readonly<Record<string, readonly string[]>>> => {
  const intervention = await on.events(Topic.agentIntervention);
  const orders = await on.events(Topic.agentOrder);
  const rulings = await on.events(Topic.stepRuling);
  const keys = (events: readonly unknown[], type: string, ...fields: readonly string[]) =>
    repeated(
      (events as readonly Emitted[])
        .filter((each) => each.type === type)
        .map(({ payload }) => fields.map((field) => payload[field]).join(' ')),
    );
  return {
    'cases of a warrant': casesTooMany(intervention),
    'openings of a case': keys(intervention, 'CASE_OPENED', 'caseId'),
    'ends of a case': keys(intervention, 'CASE_CLOSED', 'caseId'),
    'terminate orders of a case': keys(orders, 'TERMINATE_AGENT', 'caseId'),
    'terminate orders of an instance': keys(orders, 'TERMINATE_AGENT', 'agentId', 'instanceId'),
    'orders of one id': repeated(orders.map(({ payload }) => payload.orderId)),
    'admissions of a request': keys(rulings, 'STEP_ADMITTED', 'requestId'),
    'requests to recover a death': keys(await on.events(Topic.recoverTask), 'RECOVER_TASK', 'agentId', 'instanceId'),
    'spawns of an attempt': keys(orders, 'SPAWN_AGENT', 'taskId', 'attempt'),
    'alerts of an episode': keys(await on.events(Topic.alert), 'ALERT_RAISED', 'alertId'),
    'warrants of an id': keys(await on.events(Topic.agentHealth), 'WARRANT_FILED', 'warrantId'),
  };
};

/** Records that a service could not read or decide. */
export const deadLetters = async (on: TestSystem): Promise<readonly string[]> => {
  const letters = [
    ...(await on.events(Topic.dlqHeartbeatIngest)),
    ...(await on.events(Topic.dlqHealthEvaluator)),
    ...(await on.events(Topic.dlqIntervention)),
    ...(await on.events(Topic.dlqRecovery)),
    ...(await on.events(Topic.dlqAlerting)),
    ...(await on.events(Topic.dlqProjector)),
  ];
  return letters.map(({ payload }) => JSON.stringify(payload).slice(0, 300));
};
