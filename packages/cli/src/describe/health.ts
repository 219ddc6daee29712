import { spell } from '@vigil/policy';
import { because, type Descriptions, listed } from './phrases.ts';

/** The events of the evaluator and ingest. */
export const health: Descriptions = {
  HEALTH_STATE_CHANGED: (p) =>
    `${p.from} → ${p.to}${because(p.reason)}${p.exemption ? ` (exempt: ${p.exemption})` : ''}`,
  EXEMPTION_CHANGED: (p) =>
    p.to === null
      ? `no longer exempt (${p.from})`
      : `exempt: ${p.to}${p.suspends.length > 0 ? `, ${listed(p.suspends)} not counted` : ''}`,
  WAIT_OVERDUE: (p) => `waits for a person for more than ${spell(p.limitMs)}${because(p.text ?? p.kind)}`,
  WAIT_ENDED: (p) => `its wait is no longer overdue${because(p.why)}`,
  WARRANT_FILED: (p) => `warrant filed, plan "${p.planName}" (${p.axes.join(', ')})`,
  WARRANT_RENEWED: (p) => `warrant renewed, plan "${p.planName}"`,
  WARRANT_LAPSED: (p) => `warrant lapsed: ${p.why.replaceAll('_', ' ')}`,
  AGENT_ANSWERED: (p) => `answered by ${p.how.replaceAll('_', ' ')}${because(p.text)}`,
  BREAKER_RESET_ASKED: (p) => `asked by ${p.by} to close its breaker ${p.name}${because(p.why)}`,
  CIRCUIT_BREAKER_STATE_CHANGED: (p) => `breaker ${p.name} ${p.from} → ${p.to} after ${p.failures} failures`,
  WORKER_ESCALATION_TICKET: (p) => `escalation ticket ${p.ticket.ticket_id} (${p.ticket.severity}): ${p.ticket.cause}`,
  INSTANCE_STARTED: (p) =>
    `started${p.instanceId ? ` as ${p.instanceId}` : ''}${p.attempt ? `, attempt ${p.attempt}` : ''}`,
  DUPLICATE_INSTANCE: (p) => `two instances report under one name: ${p.instanceId} and ${p.otherInstanceId}`,
  TASK_HEALTH_CHANGED: (p) => `${p.hold} by ${p.agentId}, ${p.from} → ${p.to}${because(p.endReason)}`,
  AGENT_PRESENT: (p) => `present (${p.why.replaceAll('_', ' ')})${p.host ? ` on ${p.host}` : ''}`,
  AGENT_LOST: (p) => `gone (${p.why})${p.expected ? ', as expected' : ''}`,
  POLICY_PUBLISHED: (p) =>
    p.withdrawn ? `policy ${p.name} is gone` : `policy ${p.name} ${p.hash} published by ${p.by}${because(p.why)}`,
  POLICY_REFUSED: (p) => `policy ${p.name} refused: ${p.mistakes.join('; ')}`,
  APPLY_POLICY: (p) =>
    `${p.document === null ? `what was applied as policy ${p.name} is taken back` : `policy ${p.name} applied`} by ${p.by}${because(p.why)}`,
  AGENT_HEARTBEAT: (p) => `heartbeat: ${p.phase}, ${p.progress_indicator}`,
  AGENT_EXITED: (p) =>
    p.details
      ? `ended (${p.reason}): ${p.details}`
      : `ended (${p.reason})${p.code === null ? '' : `, code ${p.code}`}${p.signal ? `, ${p.signal}` : ''}`,
  CONFIRM_DEATH: (p) => `death confirmed by ${p.by}${because(p.why)}`,
  HOLD_AGENT: (p) => `held by ${p.by}${because(p.why)}`,
  RELEASE_AGENT: (p) => `released by ${p.by}${because(p.why)}`,
  CHECKPOINT_RECORDED: (p) =>
    `checkpoint ${p.checkpoint.checkpointId}${p.checkpoint.valid === false ? ' (invalid)' : ''}`,
};
