import { Topic } from '@vigil/events';
import type { DeciderProcessor } from '@vigil/stream';
import { decider as caseDecider } from './case/case.ts';
import { type CaseState, inCase } from './case/state.ts';
import { decider as governorDecider } from './governor/governor.ts';
import type { GovernorSettings } from './governor/settings.ts';
import type { GovernorState } from './governor/state.ts';

type Names = keyof typeof Topic;
type Of<Name extends Names> = (typeof Topic)[Name];

type Closed = CaseState['last'] & { readonly episodeId: string | null };

/**
 * A state of shape 1 knew neither late rulings nor pauses; one of shape 2 no plans that were worked: what had been closed stays closed; one of shape 3
 * not when a case was opened.
 */
const raised = (from: number, state: CaseState): CaseState => {
  const dated = inCase(state, (one) => ({ ...{ openedAt: 0 }, ...one }));
  return from < 3 ? withEpisode(dated) : dated;
};

const withEpisode = (state: CaseState): CaseState => {
  const last = state.last as Closed | null;
  const episode = last?.episodeId
    ? { id: last.episodeId, settled: !reopens.has(last.ending), worked: [], rehearsed: [] }
    : null;
  const open = inCase(state, (one) => ({ ...{ askAgainAt: 0, paused: null }, ...one, plans: [one.matter.planName] }));
  return { ...open, episode, life: state.life && { ...{ pauses: null }, ...state.life } };
};
const reopens: ReadonlySet<string> = new Set(['withheld', 'expired']);

/** One case an agent. */
export const cases: DeciderProcessor<
  CaseState,
  Of<'agentHealth' | 'stepRuling' | 'orderReceipt' | 'decideCase'>,
  Of<'agentIntervention' | 'agentOrder' | 'admitStep' | 'recoverTask'>
> = {
  processor: 'intervention-cases',
  service: 'intervention',
  reads: [Topic.agentHealth, Topic.stepRuling, Topic.orderReceipt, Topic.decideCase],
  writes: [Topic.agentIntervention, Topic.agentOrder, Topic.admitStep, Topic.recoverTask],
  time: { topic: Topic.agentHealth, sources: 'own' },
  ticks: [{ topic: Topic.agentIntervention, everyMs: 1000, to: 'same' }],
  decider: caseDecider,
  shape: 4,
  upgrade: (from, state) => raised(from, state as CaseState),
};

/** One governor a fleet, whatever the number of instances: its topics have a single partition, its state a single key. */
export const governor = (
  settings: GovernorSettings,
): DeciderProcessor<
  GovernorState,
  Of<'admitStep' | 'steerFleet' | 'fleetPresence' | 'runtimePresence'>,
  Of<'stepRuling' | 'spawnRuling' | 'fleetGovernance'>
> => ({
  processor: 'intervention-governor',
  service: 'intervention',
  reads: [Topic.admitStep, Topic.steerFleet, Topic.fleetPresence, Topic.runtimePresence],
  writes: [Topic.stepRuling, Topic.spawnRuling, Topic.fleetGovernance],
  time: { topic: Topic.fleetPresence, sources: 'every' },
  ticks: [{ topic: Topic.fleetGovernance, everyMs: 1000, to: 'same' }],
  decider: governorDecider(settings),
  stateKey: () => 'fleet',
  shape: 1,
});
