import { outcomeOf } from '@vigil/read-model';
import { expect, test } from 'vitest';
import type { Command } from './command.ts';

/** The event by which each command is applied. A new command does not compile without one. */
const APPLIED_BY: Readonly<Record<Command['kind'], string>> = {
  decide_case: 'ESCALATION_DECIDED',
  request_step: 'AGENT_TERMINATED',
  hold: 'HOLD_CHANGED',
  release: 'HOLD_CHANGED',
  block_task: 'TASK_BLOCKED',
  reset_breaker: 'CONTROL_APPLIED',
  confirm_death: 'CONTROL_APPLIED',
  host_gone: 'CONTROL_APPLIED',
  halt: 'FLEET_HALTED',
  resume: 'FLEET_RESUMED',
  lift_brake: 'BRAKE_RELEASED',
  dry_run: 'DRY_RUN_CHANGED',
  answer_request: 'REQUEST_ANSWERED',
  review_task: 'REVIEW_DECIDED',
  apply_policy: 'POLICY_PUBLISHED',
  file_ticket: 'CONTROL_APPLIED',
  notify_operator: 'QUEEN_INTERVENTION_REQUESTED',
  acknowledge: 'ALERT_ACKNOWLEDGED',
  silence: 'SILENCE_CHANGED',
  end_silence: 'SILENCE_CHANGED',
  resolve_alert: 'ALERT_RESOLVED',
  test_channel: 'ALERT_RAISED',
};

test.each(Object.entries(APPLIED_BY))('%s is applied when its service reports %s', (_, type) => {
  const event = { eventId: 'e', at: 1, type, agentId: null, taskId: null, caseId: null, payload: {} };
  expect(outcomeOf('c', [event]).outcome).toBe('applied');
});
