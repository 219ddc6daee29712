import type { AgentControl, EscalationAnswer, Evidence, HealthEvent, LapseReason } from '@vigil/events';
import { spell, utcTime } from '@vigil/policy';
import type { BreakerRow, CaseRow, Entry, ReplayOutcome } from '@vigil/read-model';
import { matchersText } from '@vigil/read-model/matchers';
import { clockTime, cut, type View } from './view.ts';

const order = (what: string) => (p: { number: number; runtimeId: string }) =>
  `order ${p.number}: ${what}, to ${orderTarget(p.runtimeId)}`;

const receipt = (p: { outcome: string; why: string | null; runtimeId: string }): string =>
  `${p.runtimeId} reports ${p.outcome}${because(p.why)}`;

/** An end also names how the processes of the agent were found. */
const orderReceipt = (p: Parameters<typeof receipt>[0] & { by: string | null }): string =>
  p.by ? `${receipt(p)}; its processes were found by ${p.by}` : receipt(p);

/** The agent's own words, quoted: nothing of them is Vigil's. */
const answered = (answers: readonly EscalationAnswer[]): string =>
  answers.map(({ how, text }) => `; the agent answers (${how}): ${JSON.stringify(text)}`).join('');

const CONTROLS = {
  confirm_death: 'death confirmed',
  reset_breaker: 'reset of a breaker',
  file_ticket: 'ticket filed',
  UNKNOWN: 'a command',
} as const satisfies Record<AgentControl, string>;

/** `progress` is every end of a finding while its agent lives: what was awaited has come, or the finding no longer holds. */
const LAPSES = {
  progress: 'the finding has ended',
  new_instance: 'another instance has started',
  ended: 'the instance has ended',
  held: 'a person holds the agent',
  excluded: 'the policy excludes the agent',
  UNKNOWN: 'the finding no longer holds',
} as const satisfies Record<LapseReason, string>;

/** The events of intervention, the governor, runtimes and recovery. */
export const acting: Descriptions = {
  CASE_OPENED: (p) =>
    `case opened, plan "${p.planName}"${p.requestedBy ? ` at the request of ${p.requestedBy}` : ''}${because(p.note)}`,
  CASE_WITHHELD: (p) => `${p.step} is withheld${because(p.detail)}; the case stays open`,
  CASE_RESUMED: (p) => `the governor admits ${p.step}: the case continues`,
  CASE_CLOSED: (p) => `case closed as ${p.ending}${because(p.why)}`,
  NUDGE_SENT: (p) => `nudged (${times(p.attempt, p.of)}): "${p.message}"`,
  ESCALATION_TRIGGERED: (p) =>
    `asks people${because(p.reason)}; options: ${p.options.join(', ')}; checkpoint: ${p.checkpoint?.checkpointId ?? 'none'}${answered(p.answers)}`,
  ESCALATION_DECIDED: (p) => `${p.by} decided ${p.decision.replaceAll('_', ' ')}${because(p.why)}`,
  DECISION_REFUSED: (p) => `the decision ${p.decision} of ${p.by} is refused${because(p.reason)}`,
  DECISION_LAPSED: (p) =>
    `what ${p.by} decided (${p.decision.replaceAll('_', ' ')}) is not carried out any more${because(p.why)}`,
  REQUEST_OPENED: (p) => `${p.kind === 'question' ? 'asks a question' : 'asks for a permission'}: ${p.text}`,
  REQUEST_ANSWERED: (p) => `${p.by} answered ${p.option}${because(p.why)}`,
  REQUEST_WITHDRAWN: (p) => `its ${p.kind} is over${because(p.why)}`,
  ANSWER_REFUSED: (p) => `the answer ${p.option} of ${p.by} is refused${because(p.detail)}`,
  HANDOFF_REQUESTED: (p) =>
    p.asked === null ? 'asked to hand off' : `prepares the handoff that it asked for: ${JSON.stringify(p.asked)}`,
  AGENT_PAUSED: () => 'paused',
  AGENT_RESUMED: () => 'resumed',
  STEP_SKIPPED: (p) => `${p.step} skipped (${p.why.replaceAll('_', ' ')})${because(p.detail)}`,
  ALERT_REQUESTED: (p) => `alert requested (${p.severity}): ${p.title}${answered(p.answers)}`,
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
    'number' in p
      ? order(`close breaker ${p.name}`)(p)
      : `reset of breaker ${p.name} requested by ${p.by}${because(p.why)}`,
  SPAWN_AGENT: (p) => `order: spawn attempt ${times(p.attempt, p.maxAttempts)} as ${p.agentId}, to ${p.runtimeId}`,
  ORDER_RECEIPT: orderReceipt,
  SPAWN_RECEIPT: receipt,
  RECOVERY_INITIATED: (p) =>
    `recovery ${times(p.attempt, p.of)}: ${p.newAgentId} continues from ${p.fromCheckpoint} on ${p.runtimeId}`,
  RECOVERY_COMPLETED: (p) => `recovered by ${p.newAgentId}, attempt ${p.attempt}`,
  RECOVERY_FAILED: (p) => `recovery failed after ${p.attempts} attempts${because(p.reason)}`,
  PROBATION_PASSED: (p) => `${p.agentId} passed its probation`,
  REVIEW_REQUIRED: (p) => `review required after ${p.attempts} attempts${because(p.reason)}`,
  REVIEW_DECIDED: (p) => `${p.by} decided ${p.decision}${because(p.why)}`,
  SPAWN_IMPOSSIBLE: (p) => (p.agentId === null ? p.reason : `${p.agentId} (${p.cause}): ${p.reason}`),
  RECOVERY_WAITING: (p) => (p.refusals === 0 ? `waits: ${p.reason}` : `${p.reason}; refused ${p.refusals} times`),
  RECOVERY_REFUSED: (p) => `what ${p.by} asked for does not follow${because(p.reason)}`,
  TASK_RELEASED: (p) => `no more to recover (${p.why.replaceAll('_', ' ')})${because(p.detail)}`,
  ALERT_RAISED: (p) => `alert raised (${p.severity}): ${p.title}`,
  ALERT_UPDATED: (p) => `alert updated (${p.severity}): ${p.title}`,
  ALERT_ACKNOWLEDGED: (p) => `alert acknowledged by ${p.by}`,
  SILENCE_CHANGED: (p) => {
    const matched = matchersText(p);
    if (p.silenceEnds) return `the silence of alerts with ${matched} has ended`;
    return `alerts with ${matched} are silent until ${utcTime(p.until)}`;
  },
  ALERT_RESOLVED: (p) => `alert resolved: ${p.text}`,
  TICKET_DISMISSED: (p) => `ticket ${p.ticket_id} (${p.severity}) dismissed: ${p.analysis}`,
  TICKET_ASSESSED: (p) =>
    `ticket ${p.ticket_id}: ${p.model} ${p.outcome === 'answered' ? `answers ${p.opinion}` : `has no opinion (${p.outcome})`}${p.isApplied ? '' : ', which changes nothing'}${because(p.reason)}`,
  ALERT_DELIVERED: (p) => `alert ${p.ok ? 'delivered' : 'not delivered'} by ${p.sink}${because(p.detail)}`,
  DEAD_LETTER: (p) =>
    p.left_out > 0
      ? `${p.left_out} bad records of ${p.original_topic} without a dead letter of their own`
      : `dead letter from ${p.original_topic} (${p.failure_reason})`,
};

/** The events of the evaluator and ingest. */
export const health: Descriptions = {
  HEALTH_STATE_CHANGED: (p) =>
    `${p.from} → ${p.to}${because(p.reason)}${p.exemption ? ` (exempt: ${p.exemption})` : ''}`,
  EXEMPTION_CHANGED: (p) =>
    p.to === null
      ? `no longer exempt (${p.from})`
      : `exempt: ${p.to}${p.suspends.length > 0 ? `, ${listed(p.suspends)} not counted` : ''}`,
  WAIT_OVERDUE: (p) => `waits for a person for more than ${spell(p.limitMs)}${because(p.text ?? p.kind)}`,
  WAIT_ENDED: (p) => `its overdue wait has ended${because(p.why)}`,
  CLOCK_DRIFTED: (p) =>
    `its clock is ${spell(Math.abs(p.driftMs))} ${p.driftMs > 0 ? 'behind' : 'ahead'}, more than the ${spell(p.toleranceMs)} of its policy: not judged`,
  CLOCK_DRIFT_ENDED: (p) => `its clock is no longer reported as off${because(p.why)}`,
  WARRANT_FILED: (p) => `warrant filed, plan "${p.planName}" (${p.axes.join(', ')})`,
  WARRANT_RENEWED: (p) =>
    `warrant renewed, plan "${p.planName}"${p.suspendedBy === null ? '' : `, suspended by a wait (${p.suspendedBy.replaceAll('_', ' ')})`}`,
  WARRANT_LAPSED: (p) => `warrant lapsed: ${LAPSES[p.why]}`,
  AGENT_ANSWERED: (p) => `answered by ${p.how.replaceAll('_', ' ')}${because(p.text)}`,
  BREAKER_RESET_ASKED: (p) => `asked by ${p.by} to close its breaker ${p.name}${because(p.why)}`,
  HOLD_CHANGED: (p) => `${p.held ? 'held' : 'released'} by ${p.by}${because(p.why)}`,
  CONTROL_APPLIED: (p) => `${CONTROLS[p.control]} by ${p.by}${because(p.why)}`,
  CONTROL_REFUSED: (p) => `${CONTROLS[p.control]} by ${p.by} refused: ${p.reason}`,
  HOLD_REFUSED: (p) => `${p.held ? 'hold' : 'release'} by ${p.by} refused: ${p.reason}`,
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
  TERMINAL_USED: ({ by, use, bytes }) =>
    use === 'typed' ? `${by} typed ${bytes} bytes at its terminal` : `${by} ${use} its terminal`,
  CONFIRM_DEATH: (p) => `confirmation of its death requested by ${p.by}${because(p.why)}`,
  HOLD_AGENT: (p) => `hold requested by ${p.by}${because(p.why)}`,
  RELEASE_AGENT: (p) => `release requested by ${p.by}${because(p.why)}`,
  CHECKPOINT_RECORDED: (p) =>
    `checkpoint ${p.checkpoint.checkpointId}${p.checkpoint.valid === false ? ' (invalid)' : ''}`,
};

type PayloadOfType<K extends HealthEvent['type']> = Extract<HealthEvent, { readonly type: K }>['payload'];

/** An event in one sentence, without its subject where the subject is shown beside it. */
export type Descriptions = { readonly [K in HealthEvent['type']]?: (payload: PayloadOfType<K>) => string };

/** `, because …` where there is a because. */
export const because = (why: string | null | undefined): string => (why ? `: ${why}` : '');

/** `absence, repetition and cost`. */
export const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

export const times = (attempt: number, of: number): string => `${attempt} of ${of}`;

/** Where an order goes. An agent without a runtime takes its orders itself, with the answers to its heartbeats. */
export const orderTarget = (runtimeId: string): string => (runtimeId === '' ? 'the agent itself' : runtimeId);

const descriptions = { ...health, ...acting } as Readonly<Record<string, ((payload: never) => string) | undefined>>;

/** An event in words. One that this version has no words for is called by its name. */
export const describeEvent = (type: string, payload: unknown): string => {
  const description = descriptions[type];
  return description === undefined ? type.toLowerCase().replaceAll('_', ' ') : description(payload as never);
};

type About = { readonly agentId?: unknown; readonly agent_id?: unknown; readonly taskId?: unknown };

/** The subject of an event: an agent, else a task, else the fleet. */
export const subject = (payload: unknown): string => {
  const { agentId, agent_id, taskId } = payload as About;
  const found = agentId ?? agent_id ?? taskId;
  return typeof found === 'string' ? found : 'fleet';
};

/** `14:03:10  worker-1  HEALTHY → STUCK: no call for 21 s`, cut to the line where `width` is finite. */
export const storyLine = (view: View, { at, type, payload }: Pick<Entry, 'at' | 'type' | 'payload'>): string => {
  const time = clockTime(view, at);
  const about = subject(payload);
  const text = cut(describeEvent(type, payload), Math.max(20, view.width - time.length - about.length - 4));
  return `${view.paint.dim(time)}  ${view.paint.bold(about)}  ${text}`;
};

/** A trail, where everything is about one case: without its subject. */
export const trailLine = (view: View, { at, type, payload }: Pick<Entry, 'at' | 'type' | 'payload'>): string =>
  `  ${view.paint.dim(clockTime(view, at))}  ${describeEvent(type, payload)}`;

/** "no_calls (absence, medium)"; events of older versions have no confidence. */
export const evidenceName = ({ signal, axis, confidence }: Pick<Evidence, 'signal' | 'axis' | 'confidence'>): string =>
  `${signal} (${confidence === undefined || confidence === 'UNKNOWN' ? axis : `${axis}, ${confidence}`})`;

/** Why a case was opened: the first evidence; of a request by hand, who asked and why. Null: nothing is known. */
export const caseReason = ({ evidence, note, requestedBy }: CaseRow): string | null =>
  requestedBy === null ? (evidence[0]?.words ?? note) : `${requestedBy}${because(note)}`;

/**
 * When a breaker lets its next attempt through, epoch milliseconds; null: that waits for people. Vigil makes the attempt of
 * a recovery itself and at once, so one whose time has passed waits for them.
 */
export const nextAttemptOf = (
  { name, nextAttemptAt }: Pick<BreakerRow, 'name' | 'nextAttemptAt'>,
  now: number,
): number | null =>
  name === 'recovery_attempt' && nextAttemptAt !== null && nextAttemptAt <= now ? null : nextAttemptAt;

/** What a replay would have decided. */
export const outcomeText = (outcome: ReplayOutcome): string => {
  switch (outcome.kind) {
    case 'state':
      return `${outcome.from} → ${outcome.to}${outcome.reason === '' ? '' : `: ${outcome.reason}`}`;
    case 'plan_begins':
      return `the plan for ${outcome.plan} begins: ${outcome.steps.join(', ')}`;
    case 'plan_changes':
      return `the plan changes to that for ${outcome.plan}: ${outcome.steps.join(', ')}`;
    case 'plan_ends':
      return `the plan ends (${outcome.why.replaceAll('_', ' ')})`;
  }
};

/** Routine: presence heartbeats and admissions that let a step pass. */
const ROUTINE = new Set(['STEP_ADMITTED', 'SPAWN_ADMITTED', 'AGENT_PRESENT', 'WARRANT_FILED', 'ALERT_REQUESTED']);
export const isNotRoutine = ({ type }: Pick<Entry, 'type'>): boolean => !ROUTINE.has(type);
