import type { HealthState } from '@vigil/events';
import type { CompiledPlan, Step, Term, Together } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import type { History } from '../history/history.ts';
import type { Mark } from '../signals/signal.ts';
import type { Rules } from './rules.ts';

/** The first plan with an alternative that holds: by a state, by signals that fire, or by an exemption. */
export function planOf(
  rules: Rules,
  history: History,
  state: HealthState,
  from: readonly number[],
  until: readonly number[],
  now: number,
): CompiledPlan | null {
  const holds = (term: Term) => termHolds(rules, term, state, from, until, now);
  for (const plan of plansFor(rules.plans, history))
    for (const terms of plan.anyOf) if (terms.every(holds)) return plan;
  return null;
}

function termHolds(
  { exemptions }: Rules,
  term: Term,
  state: HealthState,
  from: readonly number[],
  until: readonly number[],
  now: number,
): boolean {
  switch (term.kind) {
    case 'state':
      return term.state === state;
    case 'use':
      return (from[term.use] ?? NEVER) <= now;
    case 'exemption':
      return isExempt(exemptions, term.exemption, until, now);
  }
}

const isExempt = (exemptions: Rules['exemptions'], name: string, until: readonly number[], now: number): boolean =>
  (until[exemptions.findIndex((one) => one.name === name)] ?? 0) > now;

/** The moments of a decision: from when each rule fires, and until when each exemption holds. */
type Held = {
  readonly from: readonly number[];
  readonly until: readonly number[];
  readonly at: { readonly now: number };
};

/**
 * What ends a finding, so that no plan holds any more: one mark of each group. A group is a way in which some plan holds now: rules that
 * fire together, where the end of one is enough.
 */
export function awaitedBy(rules: Rules, history: History, verdict: Held): Mark[][] {
  const ways = plansFor(rules.plans, history).flatMap(({ anyOf }) =>
    anyOf.flatMap((terms) => waysOf(rules, terms, verdict)),
  );
  const groups = ways.map((way) => [...new Set(way.flatMap((i) => rules.rules[i]?.signal.awaits ?? []))].sort());
  return [...new Map(groups.map((group) => [group.join(' '), group])).values()];
}

/** The same for the same: to compare with. */
export const groupsInWords = (groups: readonly (readonly string[])[]): string =>
  groups.map((marks) => marks.join(' ')).join(', ');

/** Each way in which all terms hold. */
function waysOf(rules: Rules, terms: readonly Term[], verdict: Held): readonly Together[] {
  const joined = (ways: readonly Together[], term: Term) =>
    ways.flatMap((way) => holdingBy(rules, term, verdict).map((more) => [...way, ...more]));
  return terms.reduce<readonly Together[]>(joined, [[]]);
}

/** A worse state hides a lesser one only for now: each counts by its own rules. */
function holdingBy({ states, exemptions }: Rules, term: Term, { from, until, at: { now } }: Held): readonly Together[] {
  const fires = (use: number) => (from[use] ?? NEVER) <= now;
  switch (term.kind) {
    case 'state':
      return (states.find(({ state }) => state === term.state)?.anyOf ?? []).filter((together) =>
        together.every(fires),
      );
    case 'use':
      return fires(term.use) ? [[term.use]] : [];
    case 'exemption':
      return isExempt(exemptions, term.exemption, until, now) ? [[]] : [];
  }
}

/** The plans of a policy for the kinds of agents that cannot take every step. */
export type Plans = {
  readonly all: readonly CompiledPlan[];
  readonly ofClient: readonly CompiledPlan[];
  readonly ofSubagent: readonly CompiledPlan[];
};

/** A sub-agent has no process, terminal or task of its own: its session is healed through its parent, and people learn of it here. */
const FOR_SUBAGENT: Readonly<Record<Step['step'], boolean>> = {
  nudge: false,
  interrogate: false,
  interrupt: false,
  resume: false,
  escalate: true,
  handoff: false,
  pause: false,
  terminate: false,
  recover: false,
  block: false,
  alert: true,
};

const DECISIONS_ON_SUBAGENT: readonly string[] = ['allow_more_time', 'pardon'];

function ofSubagent(step: Step): readonly Step[] {
  if (!FOR_SUBAGENT[step.step]) return [];
  if (step.step !== 'escalate') return [step];
  return [{ ...step, onTimeout: 'hold', options: DECISIONS_ON_SUBAGENT }];
}

/** A client that reports its turns backs off by itself: a pause would stop it while it waits, and its end would be typed to no reader. */
const ofClient = (step: Step): readonly Step[] => (step.step === 'pause' ? [] : [step]);

const withSteps = (plans: readonly CompiledPlan[], allowed: (step: Step) => readonly Step[]): readonly CompiledPlan[] =>
  plans.map((plan) => ({ ...plan, steps: plan.steps.flatMap(allowed) })).filter(({ steps }) => steps.length > 0);

export const plansOf = (plans: readonly CompiledPlan[]): Plans => ({
  all: plans,
  ofClient: withSteps(plans, ofClient),
  ofSubagent: withSteps(plans, ofSubagent),
});

export function plansFor(plans: Plans, { identity, turn }: History): readonly CompiledPlan[] {
  if (identity.parentId !== null) return plans.ofSubagent;
  return turn === null ? plans.all : plans.ofClient;
}
