import type { CompiledPlan, Step } from '@vigil/policy';
import type { History } from '../history/history.ts';

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
