import type { Step } from '../document/plan.ts';
import { spell } from '../values/duration.ts';
import type { CompiledPlan, CompiledPolicy, Term } from './compiled.ts';

/**
 * The silence after which an agent counts as lost: three of its intervals, and at least the policy's `lost_after`.
 * Milliseconds.
 */
export const lostAfter = (intervalMs: number, leastMs: number): number => Math.max(3 * intervalMs, leastMs);

/** Signals that fire by silence alone, independent of other data of an agent. */
const SILENCES = ['no_heartbeat', 'no_activity', 'no_calls', 'no_output'];
const never = Number.POSITIVE_INFINITY;

/**
 * Warns about plans that end a silent agent before it counts as lost. The governor's brake counts lost agents. If all
 * agents fall silent at once, such a plan ends them before the brake counts any of them.
 */
export const endsBeforeLost = (policy: CompiledPolicy): string[] => {
  const lostAt = lostAfter(policy.heartbeat.intervalMs, policy.heartbeat.lostAfterMs);
  const from = policy.plans.map((plan) => matchesFrom(plan, policy));
  return policy.plans.flatMap(({ steps }, i) => {
    const silence = from[i] ?? never;
    const end = steps.findIndex(({ step }) => step === 'terminate' || step === 'resume');
    const endsAt = steps.slice(0, end).reduce((at, step) => at + waitOf(step), silence);
    const isOvertaken = from.slice(0, i).some((earlier) => earlier <= silence);
    if (end < 0 || endsAt >= lostAt || isOvertaken) return [];
    return [
      `plans[${i}].do[${end}].${steps[end]?.step}: comes after ${spell(endsAt)} of silence.`,
      `An agent counts as lost after ${spell(lostAt)} (three heartbeat intervals, at least heartbeat.lost_after).`,
      'The brake is too late if many agents are silent at once: wait longer, or set a lower lost_after',
    ].join(' ');
  });
};

/** The silence after which silence alone makes the plan match, or never. */
const matchesFrom = ({ anyOf }: CompiledPlan, { uses, states }: CompiledPolicy): number => {
  const ofUse = (i: number): number => {
    const use = uses[i];
    if (!use || !SILENCES.includes(use.signal)) return never;
    return (use.limits as { readonly after: number }).after;
  };
  const ofTerm = (term: Term): number => {
    switch (term.kind) {
      case 'use':
        return ofUse(term.use);
      case 'state':
        return first(states.find(({ state }) => state === term.state)?.anyOf ?? [], ofUse);
      case 'exemption':
        return never;
    }
  };
  return first(anyOf, ofTerm);
};

/** When the first alternative holds completely. */
const first = <T>(anyOf: readonly (readonly T[])[], from: (one: T) => number): number =>
  Math.min(never, ...anyOf.map((all) => Math.max(...all.map(from))));

/** How long a case waits at a step without an answer. */
const waitOf = (step: Step): number => {
  switch (step.step) {
    case 'nudge':
      return step.attempts * step.intervalMs;
    case 'interrogate':
      return step.waitsMs.reduce((sum, wait) => sum + wait, 0);
    case 'escalate':
      return step.onTimeout === 'hold' ? never : (step.timeoutMs ?? never);
    case 'handoff':
      return step.deadlineMs;
    case 'pause':
      return step.backoffMs;
    case 'interrupt':
    case 'resume':
      return step.waitMs;
    case 'terminate':
    case 'recover':
    case 'block':
    case 'alert':
      return 0;
  }
};
