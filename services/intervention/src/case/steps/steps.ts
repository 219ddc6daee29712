import type { PlannedStep } from '@vigil/policy';
import { handoff, interrogate, nudge } from './messages.ts';
import { pause } from './pause.ts';
import { alert, block, escalate } from './people.ts';
import { recover } from './recover.ts';
import { interrupt, resume } from './session.ts';
import type { RulesOf, StepRules } from './step.ts';
import { terminate } from './terminate.ts';

/** A step that a newer evaluator has planned, during a rolling upgrade: the case continues without it. */
const unknown: RulesOf<'UNKNOWN'> = {
  ruling: null,
  decideStep: ({ name }) => ({
    kind: 'skip',
    why: 'unknown_step',
    detail: `this version of Vigil does not support the step "${name}", or one of its settings; finish the upgrade of intervention`,
    leads: 'next',
  }),
  act: () => [],
};

const rules: { readonly [Name in PlannedStep['step']]: RulesOf<Name> } = {
  nudge,
  escalate,
  terminate,
  recover,
  alert,
  block,
  interrogate,
  handoff,
  pause,
  interrupt,
  resume,
  UNKNOWN: unknown,
};

/** The rules of a step: the table gives each name the rules of its own kind. */
export const rulesOf = (step: PlannedStep): StepRules<PlannedStep> => rules[step.step];

/** The step whose admission opens a case: the first that asks for a ruling, else the first. */
export const firstActing = (steps: readonly PlannedStep[]): PlannedStep['step'] =>
  (steps.find((step) => rulesOf(step).ruling !== null) ?? steps[0])?.step ?? 'alert';
