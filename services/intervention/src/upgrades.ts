import type { Upgrade } from '@vigil/stream';
import type { StepState } from './case/state.ts';
import { type CaseState, inCase } from './case/state.ts';
import type { GovernorState } from './governor/state.ts';

/** From a state of a shape that left out nothing. */
export const from = <Older>(to: (state: Older) => unknown): Upgrade => ({
  usual: null,
  to: (state) => to(state as Older),
});

/** Fields of a case's state that had another name before. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['at', 'kind'],
  ['buried', 'acknowledgedDeath'],
  ['former', 'previous'],
  ['life', 'instance'],
  ['matter', 'caseContext'],
  ['open', 'activeCase'],
  ['work', 'stepState'],
]);

/** Fields that hold what others have written: their names stay. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  'checkpoint',
  'client',
  'evidence',
  'labels',
  'policy',
  'recovery',
  'steps',
]);

/**
 * A part of a case's state with today's names. How a task is recovered was JSON in a text before, and commands waited in the field `word` while they
 * were answered.
 */
const withNames = (part: unknown, field = ''): unknown => {
  if (field === 'recovery' && typeof part === 'string') return JSON.parse(part);
  if (OF_OTHERS.has(field) || part === null || typeof part !== 'object') return part;
  if (Array.isArray(part)) return part.map((one) => withNames(one));
  const fields = Object.entries(part).filter(([name]) => name !== 'word');
  return Object.fromEntries(fields.map(([name, one]) => [RENAMED.get(name) ?? name, withNames(one, name)]));
};

/** From a state of the case with the names of before. */
const fromNamed = (to: (state: CaseState) => unknown): Upgrade => from((state) => to(withNames(state) as CaseState));

type Closed = CaseState['last'] & { readonly episodeId: string | null };

const reopens: ReadonlySet<string> = new Set(['withheld', 'expired']);

const withEpisode = (state: CaseState): CaseState => {
  const last = state.last as Closed | null;
  const episode = last?.episodeId
    ? { id: last.episodeId, settled: !reopens.has(last.ending), worked: [], rehearsed: [] }
    : null;
  const planned = inCase(state, (one) => ({
    ...{ askAgainAt: 0, paused: null },
    ...one,
    plans: [one.caseContext.planName],
  }));
  return { ...planned, episode, instance: state.instance && { ...{ pauses: null }, ...state.instance } };
};

const dated = (state: CaseState): CaseState => inCase(state, (one) => ({ ...{ openedAt: 0 }, ...one }));

const withWithheld = (state: CaseState): CaseState => {
  const { situation } = state;
  const after = (one: StepState): StepState => (one.kind === 'asked' ? { ...one, withheld: null } : one);
  if (situation.kind === 'asking')
    return { ...state, situation: { ...situation, stepState: after(situation.stepState) } };
  return inCase(state, (one) => ({ ...one, stepState: after(one.stepState) }));
};

export const caseUpgrades: readonly Upgrade[] = [
  // Shape 1 knew neither late rulings nor pauses, and shape 2 brought no plans that were worked: what had been closed stays closed.
  fromNamed((state) => state),
  fromNamed(withEpisode),
  fromNamed(dated),
  fromNamed(withWithheld),
  fromNamed((state) => state),
];

const raised = (state: GovernorState): GovernorState => ({
  ...state,
  uncounted: [],
  runtimes: {},
  asked: state.asked.map((asked) => ({ ...asked, withheld: null })),
});

type Lost = { readonly matter?: string };
type OlderBrake = { readonly missing: readonly Lost[]; readonly later?: readonly (readonly Lost[])[] };
type OlderGovernor = {
  readonly steering: unknown;
  readonly losses: readonly Lost[];
  readonly brake: OlderBrake | null;
};

const lost = ({ matter, ...loss }: Lost) => ({ ...loss, lossKey: matter });

/** A command waited in the field `steering` while it was answered, and losses were counted by `matter`. */
const withLossKeys = ({ steering: _, brake, losses, ...state }: OlderGovernor) => ({
  ...state,
  losses: losses.map(lost),
  brake: brake && {
    missing: brake.missing.map(lost),
    ...(brake.later ? { later: brake.later.map((those) => those.map(lost)) } : {}),
  },
});

export const governorUpgrades: readonly Upgrade[] = [from(raised), from(withLossKeys)];
