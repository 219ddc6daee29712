import type { SkipWhy } from '@vigil/events';
import type { PlannedStep } from '@vigil/policy';
import type { ActiveCase } from '../active-case.ts';
import type { CaseContext } from '../case-context.ts';
import type { CaseDraft, Instance } from '../state.ts';

/** The decision about the current step, now. */
export type StepDecision =
  | { readonly kind: 'act' }
  /** it has acted, and waits; then the next step */
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'next' }
  /** it cannot be done: `people`: they are asked instead, without a timeout */
  | { readonly kind: 'skip'; readonly why: SkipWhy; readonly detail: string; readonly leads: 'next' | 'people' };

/** When a step acts: `at`: the moment, epoch milliseconds; `number`: of the next order; `instance`: that of the agent. */
export type Moment = { readonly at: number; readonly number: number; readonly instance: Instance };

/** A kind of step: its rules, and a line in steps.ts. */
export type StepRules<S extends PlannedStep> = {
  /** the ruling that it needs before it acts */
  readonly ruling: 'soft' | 'destructive' | null;
  decideStep(step: S, activeCase: ActiveCase, now: number): StepDecision;
  act(step: S, activeCase: ActiveCase, moment: Moment): readonly CaseDraft[];
};

/** The step of a name, and its rules. */
export type StepOf<Name extends PlannedStep['step']> = Extract<PlannedStep, { readonly step: Name }>;
export type RulesOf<Name extends PlannedStep['step']> = StepRules<StepOf<Name>>;

export const act: StepDecision = { kind: 'act' };

/** A runtime reports that a text has expired after its time to live. That of a request by hand is over so much before its step, milliseconds. */
const REPORT_MS = 10_000;

/** How long the order of a text may reach its agent, in a step that waits `waitMs` for it. */
export const textTtl = ({ warrantId }: CaseContext, waitMs: number): number =>
  warrantId === null ? waitMs - REPORT_MS : waitMs;

/** The wait for a text or a handoff, until `until`. One by hand ends with the receipt that it was not delivered. */
export const waitForText = ({ caseContext, delivery }: ActiveCase, until: number, now: number): StepDecision => {
  if (caseContext.warrantId === null && delivery?.undelivered) return { kind: 'next' };
  return now < until ? { kind: 'wait', until } : { kind: 'next' };
};

/** Why no order can reach this agent, or null. */
export const unreachable = ({
  instanceId,
  runtimeId,
  agentId,
}: CaseContext): { why: SkipWhy; detail: string } | null => {
  if (instanceId === null)
    return { why: 'no_instance', detail: `${agentId} reports no instance_id: an order could reach another instance` };
  if (runtimeId === null) return { why: 'no_runtime', detail: `${agentId} has no runtime that could end it` };
  return null;
};
