import { type Draft, Topic } from '@vigil/events';
import { type AgentState, AT_REST, agentHealth, type Policies } from '@vigil/health';
import type { DeciderProcessor } from '@vigil/stream';

type In = typeof Topic.agentObservation;
type Out = typeof Topic.agentHealth | typeof Topic.taskHealth | typeof Topic.fleetPresence;

/** The judge of the agent key space: from what is observed to states, warrants, presence and the health of tasks. */
export function evaluator(policies: Policies): DeciderProcessor<AgentState, In, Out> {
  return {
    processor: 'health-evaluator',
    service: 'health-evaluator',
    reads: [Topic.agentObservation],
    writes: [Topic.agentHealth, Topic.taskHealth, Topic.fleetPresence],
    time: { topic: Topic.agentObservation, sources: 'own' },
    ticks: [
      { topic: Topic.agentHealth, everyMs: 1000, to: 'same' },
      { topic: Topic.fleetPresence, everyMs: 1000, to: 'every' },
      { topic: Topic.taskHealth, everyMs: 5000, to: 'every' },
    ],
    decider: agentHealth(policies),
    ...AT_REST,
    marker: { topic: Topic.agentHealth, key: '@policy', value: marked(policies) },
  };
}

/** Under which rules a partition is folded from here on: name and hash of each policy. */
function marked({ all }: Policies): string {
  return JSON.stringify(all.map(({ name, hash }) => ({ name, hash })));
}

/** Every policy by its hash, to be written before anything is judged with it. */
export function published({ all }: Policies): Draft<typeof Topic.policy>[] {
  return all.map(({ name, hash, document }) => ({
    topic: Topic.policy,
    type: 'POLICY_PUBLISHED',
    key: hash,
    payload: { name, hash, document, by: 'health-evaluator', origin: null, why: null, withdrawn: false },
    policy: { name, hash },
  }));
}
