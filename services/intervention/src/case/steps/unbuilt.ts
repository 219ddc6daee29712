import type { Step } from '@vigil/policy';
import type { StepRules } from './step.ts';

type Unbuilt = Extract<Step, { readonly step: 'interrogate' | 'handoff' | 'pause' }>;

/** Steps that the policy language knows and nobody carries out: the case says so and goes on. */
export const unbuilt: StepRules<Unbuilt> = {
  ruling: null,
  turn: ({ step }) => ({ want: 'skip', why: 'UNKNOWN', detail: `nobody carries out ${step} yet`, leads: 'next' }),
  act: () => [],
};
