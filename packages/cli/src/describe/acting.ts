import { because, type Descriptions, orderTarget, times } from './phrases.ts';

const order = (what: string) => (p: { number: number; runtimeId: string }) =>
  `order ${p.number}: ${what}, to ${orderTarget(p.runtimeId)}`;

const receipt = (p: { outcome: string; why: string | null; runtimeId: string }): string =>
  `${p.runtimeId} reports ${p.outcome}${because(p.why)}`;

/** The events of intervention, the governor, runtimes and recovery. */
export const acting: Descriptions = {
  CASE_OPENED: (p) =>
    `case opened, plan "${p.planName}"${p.requestedBy ? ` at the request of ${p.requestedBy}` : ''}${because(p.note)}`,
  CASE_WITHHELD: (p) => `${p.step} is withheld${because(p.detail)}; the case stays open`,
  CASE_RESUMED: (p) => `the governor admits ${p.step}: the case goes on`,
  CASE_CLOSED: (p) => `case closed as ${p.ending}${because(p.why)}`,
  NUDGE_SENT: (p) => `nudged (${times(p.attempt, p.of)}): "${p.message}"`,
  ESCALATION_TRIGGERED: (p) => `asks people${because(p.reason)}; options: ${p.options.join(', ')}`,
  ESCALATION_DECIDED: (p) => `${p.by} decided ${p.decision.replaceAll('_', ' ')}${because(p.why)}`,
  DECISION_REFUSED: (p) => `the decision ${p.decision} of ${p.by} is refused${because(p.reason)}`,
  DECISION_LAPSED: (p) =>
    `what ${p.by} decided (${p.decision.replaceAll('_', ' ')}) is not carried out any more${because(p.why)}`,
  HANDOFF_REQUESTED: () => 'asked to hand off',
  AGENT_PAUSED: () => 'paused',
  AGENT_RESUMED: () => 'resumed',
  STEP_SKIPPED: (p) => `${p.step} skipped (${p.why.replaceAll('_', ' ')})${because(p.detail)}`,
  ALERT_REQUESTED: (p) => `alert requested (${p.severity}): ${p.title}`,
  TASK_BLOCKED: (p) => `task blocked${because(p.reason)}`,
  TERMINATION_UNCONFIRMED: (p) => `the death is not confirmed${because(p.why)}; nothing is spawned`,
  AGENT_TERMINATED: (p) =>
    `terminated${because(p.reason)} (${p.confirmed ? 'confirmed' : 'unconfirmed'}${p.forced ? ', by force' : ''}${p.checkpoint ? `, checkpoint ${p.checkpoint}` : ''})`,
  STEP_ADMITTED: (p) => `governor admits ${p.step}${p.dryRun ? ' (dry run)' : ''}`,
  STEP_WITHHELD: (p) => `governor withholds ${p.step} (${p.why})${because(p.detail)}`,
  SPAWN_ADMITTED: (p) => `governor admits spawn, attempt ${p.attempt}, on ${p.runtimeId}`,
  SPAWN_WITHHELD: (p) => `governor withholds spawn, attempt ${p.attempt} (${p.why})${because(p.detail)}`,
  BRAKE_ENGAGED: (p) => `brake engaged on ${p.scope}: ${p.agentIds.length} agents${because(p.why)}`,
  BRAKE_RELEASED: (p) => `brake released by ${p.by}${because(p.why)}`,
  FLEET_HALTED: (p) => `halted by ${p.by}${because(p.why)}`,
  FLEET_RESUMED: (p) => `resumed by ${p.by}${because(p.why)}`,
  DRY_RUN_CHANGED: (p) => `dry run ${p.on ? 'on' : 'off'} by ${p.by}${because(p.why)}`,
  NUDGE_AGENT: order('nudge'),
  PROBE_AGENT: order('probe'),
  HANDOFF_AGENT: order('hand off'),
  PAUSE_AGENT: order('pause'),
  RESUME_AGENT: order('resume'),
  INTERRUPT_AGENT: order('interrupt the turn'),
  RESUME_SESSION: order('resume the session'),
  TERMINATE_AGENT: order('terminate'),
  RESET_BREAKER: (p) =>
    'number' in p ? order(`close breaker ${p.name}`)(p) : `breaker ${p.name} reset by ${p.by}${because(p.why)}`,
  SPAWN_AGENT: (p) => `order: spawn attempt ${times(p.attempt, p.maxAttempts)} as ${p.agentId}, to ${p.runtimeId}`,
  ORDER_RECEIPT: receipt,
  SPAWN_RECEIPT: receipt,
  RECOVERY_INITIATED: (p) =>
    `recovery ${times(p.attempt, p.of)}: ${p.newAgentId} continues from ${p.fromCheckpoint} on ${p.runtimeId}`,
  RECOVERY_COMPLETED: (p) => `recovered by ${p.newAgentId}, attempt ${p.attempt}`,
  RECOVERY_FAILED: (p) => `recovery failed after ${p.attempts} attempts${because(p.reason)}`,
  PROBATION_PASSED: (p) => `${p.agentId} passed its probation`,
  REVIEW_REQUIRED: (p) => `review required after ${p.attempts} attempts${because(p.reason)}`,
  REVIEW_DECIDED: (p) => `${p.by} decided ${p.decision}${because(p.why)}`,
  SPAWN_IMPOSSIBLE: (p) => p.reason,
  RECOVERY_WAITING: (p) => (p.refusals === 0 ? `waits: ${p.reason}` : `${p.reason}; refused ${p.refusals} times`),
  RECOVERY_REFUSED: (p) => `the recovery that ${p.by} asked for does not follow${because(p.reason)}`,
  TASK_RELEASED: (p) => `no more to recover (${p.why.replaceAll('_', ' ')})${because(p.detail)}`,
  ALERT_RAISED: (p) => `alert raised (${p.severity}): ${p.title}`,
  ALERT_UPDATED: (p) => `alert updated (${p.severity}): ${p.title}`,
  ALERT_ACKNOWLEDGED: (p) => `alert acknowledged by ${p.by}`,
  ALERT_RESOLVED: (p) => `alert resolved: ${p.text}`,
  TICKET_DISMISSED: (p) => `ticket ${p.ticket_id} (${p.severity}) dismissed: ${p.analysis}`,
  ALERT_DELIVERED: (p) => `alert ${p.ok ? 'delivered' : 'not delivered'} by ${p.sink}${because(p.detail)}`,
  DEAD_LETTER: (p) => `dead letter from ${p.original_topic} (${p.failure_reason})`,
};
