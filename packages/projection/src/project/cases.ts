import type { PlanStep, Topic } from '@vigil/events';
import { register, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import { type Handlers, journal, journalOnly, policyOf, prefixed } from './handlers.ts';

/** A line of the story, and the case's newest step. */
const stepped = (event: PlacedEvent<typeof Topic.agentIntervention>): readonly Statement[] => [
  journal(event),
  register(event, 'cases', 'step', { caseId: event.payload.caseId, step: event.type, stepAt: event.occurredAt }),
];

/** A step with its settings beside its name, without the empty fields of other steps. */
const stepShown = ({ step, ...settings }: PlanStep): object => Object.assign({ step }, ...Object.values(settings));

export const agentIntervention: Handlers<typeof Topic.agentIntervention> = {
  CASE_OPENED: (event) => [
    ...stepped(event),
    register(event, 'cases', 'opened', {
      ...event.payload,
      ...policyOf(event),
      plan: event.payload.plan.map(stepShown),
      openedAt: event.occurredAt,
    }),
  ],
  CASE_CLOSED: (event) => {
    const { caseId, ending, why } = event.payload;
    return [
      journal(event),
      register(event, 'cases', 'closed', { caseId, closedAt: event.occurredAt, ending, closedWhy: why }),
    ];
  },
  ESCALATION_TRIGGERED: (event) => [
    ...stepped(event),
    register(event, 'cases', 'escalation', {
      caseId: event.payload.caseId,
      ...prefixed('escalation', event.payload),
      escalationAt: event.occurredAt,
    }),
  ],
  ESCALATION_DECIDED: (event) => [
    ...stepped(event),
    register(event, 'cases', 'decision', {
      ...event.payload,
      ...prefixed('decision', event.payload),
      decisionAt: event.occurredAt,
    }),
  ],
  NUDGE_SENT: stepped,
  HANDOFF_REQUESTED: stepped,
  AGENT_PAUSED: stepped,
  AGENT_RESUMED: stepped,
  AGENT_TERMINATED: stepped,
  TERMINATION_UNCONFIRMED: stepped,
  STEP_SKIPPED: stepped,
  CASE_WITHHELD: (event) => [
    ...stepped(event),
    register(event, 'cases', 'withheld', { caseId: event.payload.caseId, ...prefixed('withheld', event.payload) }),
  ],
  CASE_RESUMED: stepped,
  TASK_BLOCKED: stepped,
  // Neither event moves the case: it still waits.
  ALERT_REQUESTED: journalOnly,
  DECISION_REFUSED: journalOnly,
  DECISION_LAPSED: journalOnly,
};
