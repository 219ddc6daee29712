import type { SkipWhy } from '@vigil/events';
import type { PlannedStep } from '@vigil/policy';
import type { Matter, Open } from '../open.ts';
import type { CaseDraft, Life } from '../state.ts';

/** What the current step wants, now. */
export type Turn =
  | { readonly want: 'act' }
  /** it has acted, and waits; then the next step */
  | { readonly want: 'wait'; readonly until: number }
  | { readonly want: 'next' }
  /** it cannot be done: `people`: they are asked instead, without a timeout */
  | { readonly want: 'skip'; readonly why: SkipWhy; readonly detail: string; readonly leads: 'next' | 'people' };

/** When a step acts: `at`: the moment, epoch milliseconds; `number`: of the next order; `life`: that of the agent. */
export type Moment = { readonly at: number; readonly number: number; readonly life: Life };

/** A kind of step: a file here, and a line in steps.ts. */
export type StepRules<S extends PlannedStep> = {
  /** the ruling without which it does not act */
  readonly ruling: 'soft' | 'destructive' | null;
  turn(step: S, open: Open, now: number): Turn;
  act(step: S, open: Open, moment: Moment): readonly CaseDraft[];
};

export const act: Turn = { want: 'act' };

/** Why nobody can lay hands on this agent, or null. */
export const handless = ({ instanceId, runtimeId, agentId }: Matter): { why: SkipWhy; detail: string } | null => {
  if (instanceId === null)
    return { why: 'no_instance', detail: `${agentId} reports no instance_id: an order could reach another life of it` };
  if (runtimeId === null) return { why: 'no_runtime', detail: `${agentId} has no runtime that could end it` };
  return null;
};
