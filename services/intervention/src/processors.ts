import { Topic } from '@vigil/events';
import type { DeciderProcessor } from '@vigil/stream';
import { AT_REST as CASES_AT_REST } from './case/at-rest.ts';
import { decider as caseDecider } from './case/case.ts';
import type { CaseState } from './case/state.ts';
import { decider as governorDecider } from './governor/governor.ts';
import type { GovernorSettings } from './governor/settings.ts';
import { AT_REST, type GovernorState } from './governor/state.ts';
import { REQUESTS_AT_REST, type RequestsState, requests } from './requests/requests.ts';
import { type SpendingState, spending, spendingKey } from './spending/spending.ts';

type Names = keyof typeof Topic;
type Of<Name extends Names> = (typeof Topic)[Name];

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
  atRest: CASES_AT_REST,
};

/** Sums of tasks and days: a state for each, all in the one partition of the fleet. */
export const spendings: DeciderProcessor<SpendingState, Of<'fleetPresence'>, Of<'spending'>> = {
  processor: 'intervention-spending',
  service: 'intervention',
  reads: [Topic.fleetPresence],
  writes: [Topic.spending],
  time: { topic: Topic.fleetPresence, sources: 'every' },
  ticks: [{ topic: Topic.spending, everyMs: 1000, to: 'same' }],
  decider: spending,
  stateKey: spendingKey,
  atRest: { oldest: 2, upgrades: [], usual: null },
};

/** What agents ask people through the hooks of their clients. Its time is the evaluator's, by which deadlines pass. */
export const agentRequests: DeciderProcessor<RequestsState, Of<'handleRequest' | 'agentHealth'>, Of<'agentRequest'>> = {
  processor: 'intervention-requests',
  service: 'intervention',
  reads: [Topic.handleRequest, Topic.agentHealth],
  writes: [Topic.agentRequest],
  time: { topic: Topic.agentHealth, sources: 'own' },
  ticks: [],
  decider: requests,
  atRest: REQUESTS_AT_REST,
};

/** One governor a fleet, for any number of instances: its topics have a single partition, its state a single key. */
export const governor = (
  settings: GovernorSettings,
): DeciderProcessor<
  GovernorState,
  Of<'admitStep' | 'controlFleet' | 'fleetPresence' | 'runtimePresence'>,
  Of<'stepRuling' | 'spawnRuling' | 'fleetGovernance'>
> => ({
  processor: 'intervention-governor',
  service: 'intervention',
  reads: [Topic.admitStep, Topic.controlFleet, Topic.fleetPresence, Topic.runtimePresence],
  writes: [Topic.stepRuling, Topic.spawnRuling, Topic.fleetGovernance],
  time: { topic: Topic.fleetPresence, sources: 'every' },
  ticks: [{ topic: Topic.fleetGovernance, everyMs: 1000, to: 'same' }],
  decider: governorDecider(settings),
  stateKey: () => 'fleet',
  atRest: AT_REST,
});
