import type { HealthState } from '@vigil/events';
import type { CompiledPlan, Term, Together } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import type { History } from '../history/history.ts';
import type { Mark } from '../signals/signal.ts';
import { plansFor, type Rules } from './rules.ts';

/** The times of a decision: when each rule fires, and the end of each exemption. */
type Moments = {
  readonly from: readonly number[];
  readonly until: readonly number[];
  readonly at: { readonly now: number };
};

/** The first plan with an alternative that holds: a state, firing signals, or an exemption. */
export const planOf = (rules: Rules, history: History, state: HealthState, moments: Moments): CompiledPlan | null => {
  // The present state hides lesser states whose rules fire too.
  const holds = (term: Term) =>
    term.kind === 'state' ? term.state === state : holdingBy(rules, term, moments).length > 0;
  for (const plan of plansFor(rules.plans, history))
    for (const terms of plan.anyOf) if (terms.every(holds)) return plan;
  return null;
};

/** A plan, and since when it holds or will hold. */
export type Upcoming = { readonly plan: CompiledPlan; readonly from: number };

type Acting = Omit<Moments, 'from'> & { readonly acting: Moments['from']; readonly plan: CompiledPlan | null };

/** The plan that holds, or the first that will hold if nothing more is received; null: none is expected. */
export const upcomingPlan = (
  rules: Rules,
  history: History,
  { acting, until, at, plan: present }: Acting,
): Upcoming | null => {
  const { now } = at;
  if (present !== null) return { plan: present, from: now };
  if (!rules.policy.enabled) return null;
  let first: Upcoming | null = null;
  for (const plan of plansFor(rules.plans, history)) {
    const from = Math.min(
      ...plan.anyOf.map((terms) =>
        Math.max(...terms.map((term) => holdsFrom(rules, term, { from: acting, until, at }))),
      ),
    );
    if (from > now && from < (first?.from ?? NEVER)) first = { plan, from };
  }
  return first;
};

/** When a term holds, as things stand. */
const holdsFrom = ({ states, exemptions }: Rules, term: Term, { from, until, at: { now } }: Moments): number => {
  const of = (use: number) => from[use] ?? NEVER;
  switch (term.kind) {
    case 'use':
      return of(term.use);
    case 'state': {
      const anyOf = states.find(({ state }) => state === term.state)?.anyOf ?? [];
      return Math.min(NEVER, ...anyOf.map((together) => Math.max(...together.map(of))));
    }
    case 'exemption':
      return (until[exemptions.findIndex(({ name }) => name === term.exemption)] ?? 0) > now ? now : NEVER;
  }
};

/**
 * The progress that ends a finding, so that no plan holds any more: one mark of each group. A group is one way in which
 * a plan holds now, as a set of rules that fire together. The end of one rule is enough.
 */
export const awaitedBy = (rules: Rules, history: History, judgement: Moments): Mark[][] => {
  const ways = plansFor(rules.plans, history).flatMap(({ anyOf }) =>
    anyOf.flatMap((terms) => waysOf(rules, terms, judgement)),
  );
  const groups = ways.map((way) => [...new Set(way.flatMap((i) => rules.rules[i]?.signal.awaits ?? []))].sort());
  return [...new Map(groups.map((group) => [group.join(' '), group])).values()];
};

/** A canonical text of the groups, for comparison. */
export const describeGroups = (groups: readonly (readonly string[])[]): string =>
  groups.map((marks) => marks.join(' ')).join(', ');

/** Every combination in which all terms hold. */
const waysOf = (rules: Rules, terms: readonly Term[], judgement: Moments): readonly Together[] => {
  const joined = (ways: readonly Together[], term: Term) =>
    ways.flatMap((way) => holdingBy(rules, term, judgement).map((more) => [...way, ...more]));
  return terms.reduce<readonly Together[]>(joined, [[]]);
};

/** A worse state hides a lesser one only temporarily, so each counts by its own rules. */
const holdingBy = (
  { states, exemptions }: Rules,
  term: Term,
  { from, until, at: { now } }: Moments,
): readonly Together[] => {
  const fires = (use: number) => (from[use] ?? NEVER) <= now;
  switch (term.kind) {
    case 'state':
      return (states.find(({ state }) => state === term.state)?.anyOf ?? []).filter((together) =>
        together.every(fires),
      );
    case 'use':
      return fires(term.use) ? [[term.use]] : [];
    case 'exemption':
      return (until[exemptions.findIndex(({ name }) => name === term.exemption)] ?? 0) > now ? [[]] : [];
  }
};
