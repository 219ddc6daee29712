import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { agentHealth, policiesOf, VOCABULARY } from '@vigil/health';
import { PRESETS, readPolicies } from '@vigil/policy';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { byKey, recordedDecisions, refold } from './refold.ts';

const policies = policiesOf(readPolicies([PRESETS], VOCABULARY), 'demo');
const evaluator = {
  processor: 'health-evaluator',
  service: 'health-evaluator',
  reads: [Topic.agentObservation],
  writes: [Topic.agentHealth, Topic.taskHealth, Topic.fleetPresence],
  time: { topic: Topic.agentObservation, sources: 'own' as const },
  ticks: [],
  decider: agentHealth(policies),
  atRest: { oldest: 1, upgrades: [], usual: null },
};
const START = 1_795_305_600_000;

/** Two agents that report twice and then become silent, judged by the runner. */
const judged = async () => {
  let now = START;
  const log = new MemoryLog({ partitions: 2, now: () => now });
  const running = await runProcessor(log, evaluator, { ...quiet, partitions: 2 });
  const heartbeat = (agent: string, sequence: number) =>
    example(Topic.agentObservation, 'AGENT_HEARTBEAT', {
      ...{ agent_id: agent, sequence, policy: 'demo', timestamp: now, ingress: null, agent_heartbeat_at: now },
      ...{ tool_calls: [], activity: 'working', exit: null, rate_limit: null, output: null },
      ...{ event_driven: false, turn: null, waiting_for: null, parent_agent_id: null },
    });
  for (let second = 0; second < 40; second += 1) {
    now = START + second * 1000;
    if (second < 2)
      for (const agent of ['a', 'b'])
        log.publishRaw(Topic.agentObservation, agent, log.codec.encode(heartbeat(agent, second + 1)));
    log.tick(Topic.agentObservation);
    await log.settled();
  }
  await running.stop();
  const topics = [Topic.agentHealth, Topic.taskHealth, Topic.fleetPresence] as const;
  return { log, recorded: byKey(recordedDecisions(topics.flatMap((topic) => log.events(topic)))) };
};

test('folding again gives the recorded events, event for event', async () => {
  const { log, recorded } = await judged();
  const again = byKey(refold(log, policies, log.records(Topic.agentObservation)));
  expect([...recorded.values()].flat().length).toBeGreaterThan(8);
  expect(again).toEqual(recorded);
});

test('a missing heartbeat or tick is detected as a difference', async () => {
  const { log, recorded } = await judged();
  const records = log.records(Topic.agentObservation);
  const without = (lost: (key: string | null) => boolean, nth: number) => {
    const place = records.map(({ key }, at) => (lost(key) ? at : -1)).filter((at) => at >= 0)[nth];
    return byKey(refold(log, policies, records.toSpliced(place ?? 0, 1)));
  };
  expect(without((key) => key === 'a', 0)).not.toEqual(recorded);
  expect(without((key) => key?.startsWith('@tick/') ?? false, 9)).not.toEqual(recorded);
});
