import type { Step } from '@vigil/policy';
import { fill, say } from '../drafts.ts';
import { act, type StepRules } from './step.ts';

type Block = Extract<Step, { readonly step: 'block' }>;

export const block: StepRules<Block> = {
  ruling: null,
  turn: () => act,
  act: ({ reason }, { matter }) => [
    say(matter, 'TASK_BLOCKED', { reason: fill(reason, matter), attempt: matter.attempt ?? null }),
  ],
};
