import { Topic } from '@vigil/events';
import type { DeciderProcessor } from '@vigil/stream';
import { decider as caseDecider } from './case/case.ts';
import type { Matter, Open, Work } from './case/open.ts';
import type { Outstanding } from './case/outstanding.ts';
import { type CaseState, inCase } from './case/state.ts';
import { decider as governorDecider } from './governor/governor.ts';
import type { GovernorSettings } from './governor/settings.ts';
import type { GovernorState } from './governor/state.ts';
import { type SpendingState, spending, spendingKey } from './spending/spending.ts';

type Names = keyof typeof Topic;
type Of<Name extends Names> = (typeof Topic)[Name];

type Closed = CaseState['last'] & { readonly episodeId: string | null };

/** From a state of a shape that left out nothing. */
const from = <Older>(to: (state: Older) => unknown) => ({ usual: null, to: (state: unknown) => to(state as Older) });

const dated = (state: CaseState): CaseState => inCase(state, (one) => ({ ...{ openedAt: 0 }, ...one }));

const withWithheld = (state: CaseState): CaseState => {
  const { situation } = state;
  const after = (work: Work): Work => (work.at === 'asked' ? { ...work, withheld: null } : work);
  if (situation.at === 'asking') return { ...state, situation: { ...situation, work: after(situation.work) } };
  return inCase(state, (open) => ({ ...open, work: after(open.work) }));
};

const raisedGovernor = (state: GovernorState): GovernorState => ({
  ...state,
  uncounted: [],
  runtimes: {},
  asked: state.asked.map((asked) => ({ ...asked, withheld: null })),
});

/** A command waited in the state only while it was answered. */
const withoutSteering = ({ steering: _, ...state }: GovernorState & { readonly steering: unknown }): GovernorState =>
  state;

const withoutWord = ({ word: _, ...state }: CaseState & { readonly word: unknown }): CaseState => state;

/** Changes what each case that a state knows is about. */
const inMatters = (state: CaseState, change: (matter: Matter) => Matter): CaseState => {
  const inOpen = (open: Open): Open => ({ ...open, matter: change(open.matter) });
  const left = (one: Outstanding): Outstanding => ({
    ...one,
    open: inOpen(one.open),
    earlier: one.earlier ? left(one.earlier) : null,
  });
  const { situation, next, outstanding } = state;
  const there = (): CaseState['situation'] => {
    switch (situation.at) {
      case 'quiet':
        return situation;
      case 'asking':
        return { ...situation, matter: change(situation.matter) };
      case 'open':
      case 'unconfirmed':
        return { ...situation, open: inOpen(situation.open) };
    }
  };
  return {
    ...state,
    situation: there(),
    next: next && change(next),
    outstanding: outstanding ? left(outstanding) : null,
  };
};

/** How a task is recovered was a text, JSON, before it was a record. */
const withRecoveryRecord = (state: CaseState): CaseState =>
  inMatters(state, (matter) => {
    const recovery: unknown = matter.recovery;
    return typeof recovery === 'string' ? { ...matter, recovery: JSON.parse(recovery) } : matter;
  });

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
  atRest: {
    oldest: 1,
    upgrades: [
      // Shape 1 knew neither late rulings nor pauses, and shape 2 brought no plans that were worked: what had been closed stays closed.
      from((state: CaseState) => state),
      from(withEpisode),
      from(dated),
      from(withWithheld),
      from(withoutWord),
      from(withRecoveryRecord),
    ],
    usual: null,
  },
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
  atRest: {
    oldest: 1,
    upgrades: [from((state: SpendingState) => ({ ...{ instanceId: null, policy: null }, ...state }))],
    usual: null,
  },
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
  atRest: { oldest: 1, upgrades: [from(raisedGovernor), from(withoutSteering)], usual: null },
});
