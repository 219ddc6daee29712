import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { AT_REST, agentHealth, policiesOf, VOCABULARY } from '@vigil/health';
import { PRESETS, readPolicies } from '@vigil/policy';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { signalsFrom } from './signals.ts';

const policies = policiesOf(readPolicies([PRESETS], VOCABULARY), 'demo');
const documents = new Map(policies.all.map(({ hash, document }) => [hash, document]));

const evaluator = {
  processor: 'health-evaluator',
  service: 'health-evaluator',
  reads: [Topic.agentObservation],
  writes: [Topic.agentHealth, Topic.taskHealth, Topic.fleetPresence],
  time: { topic: Topic.agentObservation, sources: 'own' as const },
  ticks: [],
  decider: agentHealth(policies),
  atRest: AT_REST,
};

/** The figures of worker-1, which has sent one heartbeat. */
const figures = async (
  agentId: string,
  document = (hash: string) => documents.get(hash) ?? null,
  more: { readonly timestamp?: number } = {},
) => {
  const failures: unknown[] = [];
  await using log = new MemoryLog();
  await using _ = await runProcessor(log, evaluator, { ...quiet, partitions: 4 });
  // A heartbeat that is stamped over a day ago starts no agent.
  const timestamp = Date.now();
  await log.publish(
    example(Topic.agentObservation, 'AGENT_HEARTBEAT', { agent_id: 'worker-1', policy: 'demo', timestamp, ...more }),
  );
  await log.settled();
  const model = { policyDocument: async (hash: string) => document(hash) };
  const told = await signalsFrom(log, model, (error) => failures.push(error))(agentId);
  return { told, failures };
};

test('every signal of the policy has its figure, in words', async () => {
  const { told, failures } = await figures('worker-1');
  expect(failures).toEqual([]);
  expect(told?.signals.map(({ signal }) => signal)).toContain('no_activity');
  expect(told?.signals.find(({ signal }) => signal === 'no_activity')).toMatchObject({ axis: 'absence', fires: false });
});

test('what else speaks about an agent is noted', async () => {
  const { told } = await figures('worker-1', undefined, { timestamp: Date.now() - 3_600_000 });
  expect(told?.notes).toEqual([expect.stringContaining('its clock is')]);
});

test('of an agent that nobody remembers, or whose policy was never published, nothing is told', async () => {
  expect(await figures('worker-2')).toEqual({ told: null, failures: [] });
  expect(await figures('worker-1', () => null)).toEqual({ told: null, failures: [] });
});

test('what cannot be read is told to whoever looks after the dashboard, and the rest is explained without it', async () => {
  const { told, failures } = await figures('worker-1', () => 'not JSON');
  expect(told).toBeNull();
  expect(failures).toHaveLength(1);
});
