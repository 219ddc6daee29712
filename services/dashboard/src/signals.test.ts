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
  document: (hash: string) => string | null = (hash) => documents.get(hash) ?? null,
) => {
  const failures: unknown[] = [];
  await using log = new MemoryLog();
  await using _ = await runProcessor(log, evaluator, { ...quiet, partitions: 4 });
  // A heartbeat that is stamped over a day ago starts no agent.
  const timestamp = Date.now();
  await log.publish(
    example(Topic.agentObservation, 'AGENT_HEARTBEAT', { agent_id: 'worker-1', policy: 'demo', timestamp }),
  );
  await log.settled();
  const model = { policyDocument: async (hash: string) => document(hash) };
  const explained = await signalsFrom(
    log,
    model,
    () => false,
    (error) => failures.push(error),
  )(agentId);
  return { explained, failures };
};

test('every signal of the policy has its figure, in words', async () => {
  const { explained, failures } = await figures('worker-1');
  expect(failures).toEqual([]);
  expect(explained?.signals.map(({ signal }) => signal)).toContain('no_activity');
  expect(explained?.signals.find(({ signal }) => signal === 'no_activity')).toMatchObject({
    axis: 'absence',
    fires: false,
  });
});

test('every other finding about an agent is noted', async () => {
  const disabled = (hash: string) => JSON.stringify({ ...JSON.parse(documents.get(hash) ?? ''), enabled: false });
  const { explained } = await figures('worker-1', disabled);
  expect(explained?.notes).toEqual([expect.stringContaining('is not enabled')]);
});

test('an agent that is not in the read model, or whose policy was never published, has no explanation', async () => {
  expect(await figures('worker-2')).toEqual({ explained: null, failures: [] });
  expect(await figures('worker-1', () => null)).toEqual({ explained: null, failures: [] });
});

test('unreadable records are reported to the operator of the dashboard, and the rest is explained without them', async () => {
  const { explained, failures } = await figures('worker-1', () => 'not JSON');
  expect(explained).toBeNull();
  expect(failures).toHaveLength(1);
});

test('a log that does not answer delays no explanation for ever: it has no figures then', async () => {
  const failures: unknown[] = [];
  const silent = new Promise<never>(() => {});
  const log = { bounds: () => silent, read: () => silent };
  const model = { policyDocument: async () => null };
  expect(
    await signalsFrom(
      log,
      model,
      () => false,
      (error) => failures.push(error),
    )('worker-1'),
  ).toBeNull();
  expect(failures).toMatchObject([{ name: 'NoAnswer' }]);
});

test('while the broker is away an explanation has no figures at once, and its log is not asked', async () => {
  const asked = () => {
    throw new Error('the log was asked');
  };
  const failures: unknown[] = [];
  const signals = signalsFrom(
    { bounds: asked, read: asked },
    { policyDocument: async () => null },
    () => true,
    (error) => failures.push(error),
  );
  expect(await signals('worker-1')).toBeNull();
  expect(failures).toEqual([]);
});
