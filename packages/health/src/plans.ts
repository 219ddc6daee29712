import type { HealthState } from '@vigil/events';
import type { CompiledPlan, Term } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import type { Rules } from './rules.ts';

/** The first plan one of whose alternatives holds: by a state, by signals that fire, or by an exemption. */
export function planOf(
  rules: Rules,
  state: HealthState,
  from: readonly number[],
  until: readonly number[],
  now: number,
): CompiledPlan | null {
  const holds = (term: Term) => termHolds(rules, term, state, from, until, now);
  for (const plan of rules.plans) for (const terms of plan.anyOf) if (terms.every(holds)) return plan;
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
      return (until[exemptions.findIndex(({ name }) => name === term.exemption)] ?? 0) > now;
  }
}
