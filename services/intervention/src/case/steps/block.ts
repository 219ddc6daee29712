import type { Step } from '@vigil/policy';
import { about, fill, say } from '../drafts.ts';
import { act, type StepRules } from './step.ts';

type Block = Extract<Step, { readonly step: 'block' }>;

export const block: StepRules<Block> = {
  ruling: null,
  turn: () => act,
  act: ({ reason }, { matter }) => [
    say(matter, {
      type: 'TASK_BLOCKED',
      payload: { ...about(matter), reason: fill(reason, matter), attempt: matter.attempt ?? null },
    }),
  ],
};
