import type { Upgrade } from '@vigil/stream';
import type { StepState } from './case/state.ts';
import { type CaseState, inCase } from './case/state.ts';
import type { GovernorState } from './governor/state.ts';

/** From a state of a shape that left out nothing. */
export const from = <Older>(to: (state: Older) => unknown): Upgrade => ({
  usual: null,
  to: (state) => to(state as Older),
});

type Names = {
  /** fields that had another name before */
  readonly renamed: ReadonlyMap<string, string>;
  /** fields that hold what others have written, or keys that others chose: what is in them stays */
  readonly kept: ReadonlySet<string>;
};

const ofCase: Names = {
  renamed: new Map([
    ['at', 'kind'],
    ['buried', 'acknowledgedDeath'],
    ['former', 'previous'],
    ['life', 'instance'],
    ['matter', 'caseContext'],
    ['open', 'activeCase'],
    ['work', 'stepState'],
  ]),
  kept: new Set(['checkpoint', 'client', 'evidence', 'labels', 'policy', 'recovery', 'steps']),
};

const ofGovernor: Names = {
  renamed: new Map([
    ['asked', 'requests'],
    ['askedAt', 'requestedAt'],
    ['later', 'laterIncidents'],
    ['live', 'liveAgents'],
    ['matter', 'lossKey'],
    ['missing', 'awaited'],
  ]),
  kept: new Set(['liveAgents', 'runtimes', 'spawn', 'step']),
};

/** Commands waited in these fields while they were answered. */
const DROPPED: ReadonlySet<string> = new Set(['word', 'steering']);

/** A part of a state with today's names. How a task is recovered was JSON in a text before. */
const withNames = (names: Names, part: unknown, field = ''): unknown => {
  if (field === 'recovery' && typeof part === 'string') return JSON.parse(part);
  if (names.kept.has(field) || part === null || typeof part !== 'object') return part;
  if (Array.isArray(part)) return part.map((one) => withNames(names, one));
  const fields = Object.entries(part).filter(([name]) => !DROPPED.has(name));
  return Object.fromEntries(
    fields.map(([name, one]) => {
      const renamed = names.renamed.get(name) ?? name;
      return [renamed, withNames(names, one, renamed)];
    }),
  );
};

/** From a state with the names of before. */
const fromNamed = <State>(names: Names, to: (state: State) => unknown): Upgrade =>
  from((state) => to(withNames(names, state) as State));

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
  // Shape 1 had neither late rulings nor pauses. Shape 2 had no record of completed plans: a closed case stays closed.
  fromNamed(ofCase, (state: CaseState) => state),
  fromNamed(ofCase, withEpisode),
  fromNamed(ofCase, dated),
  fromNamed(ofCase, withWithheld),
  fromNamed(ofCase, (state: CaseState) => state),
];

const raised = (state: GovernorState): GovernorState => ({
  ...state,
  uncounted: [],
  runtimes: {},
  requests: state.requests.map((request) => ({ ...request, withheld: null })),
});

const sameGovernor = fromNamed(ofGovernor, (state: GovernorState) => state);

/** Shapes 2 and 3 differ from the present one in names only. */
export const governorUpgrades: readonly Upgrade[] = [fromNamed(ofGovernor, raised), sameGovernor, sameGovernor];
