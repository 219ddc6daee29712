import type { UnknownStep } from '@vigil/policy';
import type { StepRules } from './step.ts';

/** A step that a newer evaluator has planned, during a rolling upgrade: the case goes on without it. */
export const unknown: StepRules<UnknownStep> = {
  ruling: null,
  decideStep: ({ name }) => ({
    kind: 'skip',
    why: 'unknown_step',
    detail: `this version of Vigil does not know the step "${name}", or one of its settings; finish the upgrade of intervention`,
    leads: 'next',
  }),
  act: () => [],
};
