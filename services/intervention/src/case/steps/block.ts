import type { Step } from '@vigil/policy';
import { about, caseEvent, fill } from '../drafts.ts';
import { act, type StepRules } from './step.ts';

type Block = Extract<Step, { readonly step: 'block' }>;

export const block: StepRules<Block> = {
  ruling: null,
  decideStep: () => act,
  act: ({ reason }, { caseContext }) => [
    caseEvent(caseContext, {
      type: 'TASK_BLOCKED',
      payload: { ...about(caseContext), reason: fill(reason, caseContext), attempt: caseContext.attempt ?? null },
    }),
  ],
};
