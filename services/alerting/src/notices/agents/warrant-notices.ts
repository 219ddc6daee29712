import type { EventOf, Topic } from '@vigil/events';
import { spell } from '@vigil/policy';
import { type About, type Noticed, raise, resolve, settle } from '../notice.ts';

type Input = EventOf<typeof Topic.agentHealth | typeof Topic.agentIntervention | typeof Topic.agentRequest>;

/** While its case is at work, a newer warrant of the agent needs no further first step. */
export const WARRANT_ROUTE = 'warrant_waiting';

/** A warrant that has waited for its first step for so long is an alert: the part that acts does not. Milliseconds. */
export const LIMIT_MS = 300_000;

/** Agents that share a task have warrants of their own. */
const aboutWarrant = (payload: { readonly agentId: string; readonly taskId: string | null }): About => ({
  agentId: payload.agentId,
  taskId: payload.taskId,
  ...(payload.taskId !== null && { of: payload.agentId }),
});

/** `caseId`: of the case whose step answers it; null: no step does */
const answered = (payload: Parameters<typeof aboutWarrant>[0], caseId: string | null): Noticed =>
  resolve(WARRANT_ROUTE, { ...aboutWarrant(payload), caseId }, `${payload.agentId}: its warrant is answered`);

/** A warrant waits until its first step, or until the governor withholds it with a reason. */
export const warrantNotices = (input: Input): readonly Noticed[] => {
  switch (input.type) {
    case 'WARRANT_FILED': {
      const { agentId, plan, title, endReason } = input.payload;
      // A plan without a step needs no action, nor does the death of an instance that a case has ended.
      if (plan.length === 0 || endReason !== null) return [];
      return [
        raise(WARRANT_ROUTE, aboutWarrant(input.payload), {
          title: `${agentId}: its warrant has waited for ${spell(LIMIT_MS)} without a step`,
          text: `${title}; see whether intervention runs: \`vigil doctor\``,
          usual: 'critical',
          afterMs: LIMIT_MS,
        }),
      ];
    }
    case 'CASE_CLOSED': {
      const { agentId, caseId } = input.payload;
      const about = aboutWarrant(input.payload);
      const text = `${agentId}: its case is closed`;
      return [resolve(WARRANT_ROUTE, about, text), settle(WARRANT_ROUTE, { ...about, caseId }, { title: text, text })];
    }
    case 'WARRANT_LAPSED':
    case 'CASE_WITHHELD':
      return [answered(input.payload, null)];
    case 'NUDGE_SENT':
    case 'ESCALATION_TRIGGERED':
    case 'ALERT_REQUESTED':
    case 'HANDOFF_REQUESTED':
    case 'TASK_BLOCKED':
    case 'AGENT_PAUSED':
    case 'AGENT_RESUMED':
    case 'STEP_SKIPPED':
    case 'AGENT_TERMINATED':
    case 'TERMINATION_UNCONFIRMED':
      return [answered(input.payload, input.payload.caseId)];
    case 'HEALTH_STATE_CHANGED':
    case 'CIRCUIT_BREAKER_STATE_CHANGED':
    case 'ESCALATION_DECIDED':
    case 'DECISION_LAPSED':
    case 'WORKER_ESCALATION_TICKET':
    case 'WAIT_OVERDUE':
    case 'WAIT_ENDED':
    case 'CLOCK_DRIFTED':
    case 'CLOCK_DRIFT_ENDED':
    case 'INSTANCE_STARTED':
    case 'EXEMPTION_CHANGED':
    case 'WARRANT_RENEWED':
    case 'AGENT_ANSWERED':
    case 'BREAKER_RESET_ASKED':
    case 'DUPLICATE_INSTANCE':
    case 'HOLD_CHANGED':
    case 'HOLD_REFUSED':
    case 'CONTROL_APPLIED':
    case 'CONTROL_REFUSED':
    case 'CASE_OPENED':
    case 'CASE_RESUMED':
    case 'DECISION_REFUSED':
    case 'REQUEST_OPENED':
    case 'REQUEST_ANSWERED':
    case 'REQUEST_WITHDRAWN':
    case 'REQUEST_EXPIRED':
    case 'REQUEST_REFUSED':
    case 'ANSWER_REFUSED':
      return [];
  }
};
