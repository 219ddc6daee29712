import { Topic } from '@vigil/events';
import { type AgentState, AT_REST } from '@vigil/health';
import type { DeciderProcessor } from '@vigil/stream';
import type { InForce } from './policies.ts';

type In = typeof Topic.agentObservation;
type Out = typeof Topic.agentHealth | typeof Topic.taskHealth | typeof Topic.fleetPresence;

/** The part that is the same under all rules. */
export const EVALUATOR = {
  processor: 'health-evaluator',
  service: 'health-evaluator',
  reads: [Topic.agentObservation],
  writes: [Topic.agentHealth, Topic.taskHealth, Topic.fleetPresence],
} as const;

/**
 * The evaluator of the agent key space: from observations to states, warrants, presence and the health of tasks.
 * `rules`: those in force now. `mostAgents`: in each partition.
 */
export const evaluator = (rules: () => InForce, mostAgents: number): DeciderProcessor<AgentState, In, Out> => ({
  ...EVALUATOR,
  time: { topic: Topic.agentObservation, sources: 'own' },
  ticks: [
    { topic: Topic.agentHealth, everyMs: 1000, to: 'same' },
    { topic: Topic.fleetPresence, everyMs: 1000, to: 'every' },
    { topic: Topic.taskHealth, everyMs: 5000, to: 'every' },
  ],
  decider: rules().decider,
  atRest: AT_REST,
  keyLimit: {
    most: mostAgents,
    remedy: 'an agent is forgotten a day after its end; raise VIGIL_AGENTS_PER_PARTITION where memory allows',
  },
  marker: { topic: Topic.agentHealth, key: '@policy', rules },
});
