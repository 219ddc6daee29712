// Generated from schemas/ by `npm run generate`. Do not edit.

export type AcknowledgeAlertPayload = {
  readonly alertKey: string;
  readonly by: string;
  readonly why: null | string;
};
export type Activity = 'UNKNOWN' | 'starting' | 'working' | 'idle' | 'awaiting_input' | 'blocked' | 'rate_limited' | 'paused' | 'handing_off' | 'stuck' | 'exiting' | 'finished';
export type AdmitSpawnPayload = {
  readonly requestId: string;
  readonly taskId: string;
  readonly attempt: number;
  readonly newAgentId: string;
  /** the dead instance's */
  readonly preferRuntimeId: null | string;
  /** tried already */
  readonly notRuntimeIds: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** the policy's spawns an hour in the scope; null: no limit of the policy */
  readonly maxPerHour: null | number;
};
export type AdmitStepPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly step: StepName;
  readonly class: StepClass;
  readonly runtimeId: null | string;
};
export type AgentAnsweredPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly how: AnswerKind;
  readonly nonce: null | string;
  readonly text: null | string;
};
export type AgentControl = 'UNKNOWN' | 'confirm_death' | 'reset_breaker' | 'file_ticket';
export type AgentExitedPayload = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly taskId: null | string;
  readonly runtimeId: null | string;
  readonly code: null | number;
  readonly signal: null | string;
  readonly reason: ExitReason;
  readonly at: null | number;
  /** the order that ended it, if any */
  readonly orderId: null | string;
  readonly details: null | string;
  readonly checkpoint: null | CheckpointRef;
  readonly lastOutput: readonly string[];
  readonly forensics: null | string;
  /** the policy that its heartbeats name: it applies also to an agent that ends before its first heartbeat */
  readonly policy: null | string;
  /** as in its heartbeats */
  readonly labels: Readonly<Record<string, string>>;
};
export type AgentHealthcheck = {
  readonly type: string;
  readonly ticket_id: string;
  readonly agent_id: string;
  readonly status: HealthcheckStatus;
  readonly stall_reason: null | StallReason;
  readonly idle_minutes: null | number;
  readonly context_usage_pct: null | number;
  readonly checkpoint_path: null | string;
  readonly recovery_action: HealthcheckAction;
  readonly timestamp_utc: string;
};
export type AgentHeartbeatPayload = {
  readonly agent_id: string;
  readonly task_id: null | string;
  /** the agent's own clock: data, never judged */
  readonly timestamp: number;
  readonly phase: string;
  readonly last_tool_call: null | number;
  /** tokens processed by this instance so far, input, cached input and output together; null: unknown */
  readonly token_count: null | number;
  readonly error_count: number;
  readonly progress_indicator: string;
  /** one instance of the agent; without it an agent is never acted on destructively */
  readonly instance_id: null | string;
  /** rising within an instance */
  readonly sequence: null | number;
  readonly reporter: Reporter;
  /** the agent's own last heartbeat, where a runtime merged it */
  readonly agent_heartbeat_at: null | number;
  /** the sender's interval between heartbeats */
  readonly interval_ms: null | number;
  /** the sender reports events only, as telemetry does: its silence between calls has no meaning */
  readonly event_driven: boolean;
  /** the ingress that received it (gateway), set by that ingress; null: sent directly to Kafka */
  readonly ingress: null | string;
  /** the token with which the gateway accepted it; null: sent directly to Kafka, and believed as far as the broker's access lists go */
  readonly verified: null | Verified;
  /** a wish; the operators' assignment decides */
  readonly policy: null | string;
  /** team, host, model, graph */
  readonly labels: Readonly<Record<string, string>>;
  readonly runtime_id: null | string;
  readonly attempt: null | number;
  readonly max_attempts: null | number;
  readonly activity: null | Activity;
  /** with activity awaiting_input; null: not known */
  readonly waiting_for: null | WaitingFor;
  /** the turn as the client of the agent reports it; while it is open, terminal output is not activity */
  readonly turn: null | TurnReport;
  /** the agent that started this one as its sub-agent */
  readonly parent_agent_id: null | string;
  /** the coding agent that runs as this agent */
  readonly client: null | ClientReport;
  /** new or changed since the last heartbeat */
  readonly tool_calls: readonly ToolCall[];
  readonly breakers: readonly BreakerReport[];
  readonly reports_checkpoints: null | boolean;
  readonly checkpoint: null | Checkpoint;
  readonly context: null | ContextUse;
  /** tokens of this instance so far, a record for each model; empty: unknown */
  readonly usage: readonly TokenUsage[];
  /** money that the client reports for this instance so far, US dollars */
  readonly cost_usd: null | number;
  readonly work: null | WorkItem;
  readonly output: null | OutputReport;
  readonly steps: null | StepsReport;
  readonly errors: readonly ErrorReport[];
  readonly rate_limit: null | RateLimitReport;
  readonly limits: readonly LimitReport[];
  readonly handoff: null | string;
  readonly blockers: readonly string[];
  readonly probe_reply: null | string;
  readonly exit: null | ExitReport;
};
export type AgentLostPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly why: LostWhy;
  readonly host: null | string;
  readonly runtimeId: null | string;
  /** where it was reported as present until now, so that readers can count by place without its name; null: nowhere */
  readonly previousPlace: null | Place;
  readonly model: null | string;
  /** finished, or ended by an order */
  readonly expected: boolean;
  /** idle, paused or held at its last report, or sub_agent: its loss is not a sign of a mass failure */
  readonly exemption: null | string;
  /** from the first heartbeat of this instance to the last, or to its end */
  readonly observedMs: number;
};
export type AgentPausedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly until: number;
  readonly orderId: string;
};
export type AgentPresentPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly why: PresentWhy;
  readonly host: null | string;
  readonly runtimeId: null | string;
  /** where it was reported as present until now, so that readers can count by place without its name; null: nowhere */
  readonly previousPlace: null | Place;
  readonly model: null | string;
  readonly intervalMs: null | number;
  readonly presentSince: null | number;
  /** when it is reported again, unless the agent is lost before; the topic keeps seven days */
  readonly repeatAt: null | number;
};
export type AgentResumedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly orderId: string;
};
export type AgentSpentPayload = {
  readonly scope: SpendingScope;
  /** an agent, a task, or the policy whose day it is */
  readonly scopeId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  /** more than were counted for this instance before */
  readonly tokens: number;
  /** US dollars more than before; null: unknown */
  readonly usd: null | number;
  /** the policy's limit; null: none */
  readonly limitTokens: null | number;
  readonly limitUsd: null | number;
};
export type AgentTerminatedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly reason: string;
  /** id of the checkpoint saved at the end */
  readonly checkpoint: null | string;
  readonly confirmed: boolean;
  readonly forced: boolean;
  readonly claimsReleased: readonly string[];
  readonly taskLeft: TaskLeft;
  readonly forensics: null | string;
};
export type AlertAcknowledgedPayload = {
  readonly alertKey: string;
  readonly alertId: string;
  readonly by: string;
  /** the time from which sinks are notified; null if they are not */
  readonly deliverAt: null | number;
  /** the channels that received the alert */
  readonly sinks: readonly string[];
};
export type AlertAction = 'UNKNOWN' | 'raise' | 'resolve' | 'dismiss' | 'settle' | 'inhibit' | 'release' | 'hold' | 'unhold';
export type AlertDeliveredPayload = {
  readonly alertKey: string;
  readonly alertId: string;
  readonly ofEventId: string;
  readonly sink: string;
  readonly attempt: number;
  readonly ok: boolean;
  readonly detail: null | string;
};
export type AlertMatcher = {
  readonly field: string;
  readonly value: string;
};
export type AlertRaisedPayload = {
  readonly alertKey: string;
  readonly agentId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly caseId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** stuck_agent, circuit_breaker_open, recovery_failed, or one of ours */
  readonly route: string;
  readonly severity: AlertSeverity;
  readonly title: string;
  readonly text: string;
  readonly alertId: string;
  readonly options: readonly string[];
  /** what the agent of a request asks; without options, the page and the API take its answer */
  readonly questions: readonly RequestQuestion[];
  readonly deadlineAt: null | number;
  /** the time from which sinks are notified; null if they are not */
  readonly deliverAt: null | number;
  /** the requested channels, by their names in alerting's configuration; by default, or if empty, alerting's default channels */
  readonly channels: readonly string[];
  /** the action at deadlineAt without a decision */
  readonly onTimeout: null | string;
  /** the newest checkpoint from which the task can continue, and whether it is valid */
  readonly checkpoint: null | CheckpointRef;
  /** the task waits for a person (omniclaude's Blocked) */
  readonly blocked: null | Blocked;
  /** the notified channels if deliverAt is set; empty: the console */
  readonly sinks: readonly string[];
  readonly raisedAt: null | number;
  /** how much it is in a hurry; an escalation and an alert without an acknowledgement raise it, and the severity stays */
  readonly urgency: AlertUrgency;
  /** how long it gathers related notices before sinks are notified; null: as alerting is configured */
  readonly groupWaitMs: null | number;
  /** how often sinks are notified again without an acknowledgement; null: as alerting is configured */
  readonly repeatMs: null | number;
  /** the request of an agent that it shows; null: none */
  readonly requestId: null | string;
  /** the id of its item in the inbox, such as case/case-7; null: it has none */
  readonly itemId: null | string;
  /** when the question of a case or a review was put, which its answer names; null: no such question */
  readonly askedAt: null | number;
  /** a person has pardoned the agent, and the alert was not raised again since; where a channel has acknowledgements, it is acknowledged */
  readonly isPardoned: boolean;
};
export type AlertRequestedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly channel: null | string;
  readonly severity: AlertSeverity;
  readonly title: string;
  readonly text: string;
  /** what the agent has answered: its own words, which nothing has verified */
  readonly answers: readonly EscalationAnswer[];
};
export type AlertResolvedPayload = {
  readonly alertKey: string;
  readonly agentId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly caseId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** stuck_agent, circuit_breaker_open, recovery_failed, or one of ours */
  readonly route: string;
  readonly severity: AlertSeverity;
  readonly title: string;
  readonly text: string;
  readonly alertId: string;
  readonly raisedAt: null | number;
  /** the time from which sinks are notified; null if they are not */
  readonly deliverAt: null | number;
  /** the notified channels if deliverAt is set; empty: the console */
  readonly sinks: readonly string[];
  /** how much it is in a hurry; an escalation and an alert without an acknowledgement raise it, and the severity stays */
  readonly urgency: AlertUrgency;
};
export type AlertSeverity = 'UNKNOWN' | 'info' | 'warning' | 'critical';
export type AlertStep = {
  readonly channel: null | string;
  readonly severity: AlertSeverity;
};
export type AlertUpdatedPayload = {
  readonly alertKey: string;
  readonly agentId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly caseId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** stuck_agent, circuit_breaker_open, recovery_failed, or one of ours */
  readonly route: string;
  readonly severity: AlertSeverity;
  readonly title: string;
  readonly text: string;
  readonly alertId: string;
  readonly options: readonly string[];
  /** what the agent of a request asks; without options, the page and the API take its answer */
  readonly questions: readonly RequestQuestion[];
  readonly deadlineAt: null | number;
  /** the time from which sinks are notified; null if they are not */
  readonly deliverAt: null | number;
  /** the requested channels, by their names in alerting's configuration; by default, or if empty, alerting's default channels */
  readonly channels: readonly string[];
  /** the action at deadlineAt without a decision */
  readonly onTimeout: null | string;
  /** the newest checkpoint from which the task can continue, and whether it is valid */
  readonly checkpoint: null | CheckpointRef;
  /** the task waits for a person (omniclaude's Blocked) */
  readonly blocked: null | Blocked;
  /** the notified channels if deliverAt is set; empty: the console */
  readonly sinks: readonly string[];
  readonly raisedAt: null | number;
  /** how much it is in a hurry; an escalation and an alert without an acknowledgement raise it, and the severity stays */
  readonly urgency: AlertUrgency;
  /** how long it gathers related notices before sinks are notified; null: as alerting is configured */
  readonly groupWaitMs: null | number;
  /** how often sinks are notified again without an acknowledgement; null: as alerting is configured */
  readonly repeatMs: null | number;
  /** the request of an agent that it shows; null: none */
  readonly requestId: null | string;
  /** a question is answered, or a group has another count: sinks that update in place show it, and nothing is sent to people */
  readonly isQuiet: boolean;
  /** the id of its item in the inbox, such as case/case-7; null: it has none */
  readonly itemId: null | string;
  /** when the question of a case or a review was put, which its answer names; null: no such question */
  readonly askedAt: null | number;
  /** the channels for which this is the first message of the alert: they get its beginning */
  readonly firstFor: readonly string[];
  /** a person has pardoned the agent, and the alert was not raised again since; where a channel has acknowledgements, it is acknowledged */
  readonly isPardoned: boolean;
};
export type AlertUrgency = 'UNKNOWN' | 'normal' | 'high' | 'highest';
export type AnswerKind = 'UNKNOWN' | 'handoff' | 'blockers' | 'self_report' | 'probe_reply';
export type AnswerRefusal = 'UNKNOWN' | 'answered' | 'expired' | 'withdrawn' | 'other_instance' | 'no_such_option' | 'unknown_request' | 'unknown_question' | 'incomplete_answer' | 'too_many_labels';
export type AnswerRefusedPayload = {
  readonly requestId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly option: string;
  readonly by: string;
  readonly reason: AnswerRefusal;
  readonly detail: string;
};
export type AnswerRequestPayload = {
  readonly requestId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly option: string;
  /** one for each question; empty: the option is the answer */
  readonly answers: readonly QuestionAnswer[];
  readonly by: string;
  readonly why: string;
};
export type AnsweredQuestion = {
  /** null: it waits for ever */
  readonly deadlineAt: null | number;
};
export type ApplyPolicyPayload = {
  /** the policy's, or assign.yaml: which agent gets which */
  readonly name: string;
  /** canonical JSON; null removes the document that was applied under this name */
  readonly document: null | string;
  readonly by: string;
  readonly why: string;
};
export type AssessTicketPayload = {
  readonly alertKey: string;
  readonly agentId: null | string;
  readonly taskId: null | string;
  readonly ticket_id: string;
  /** its name in the configuration */
  readonly model: string;
  readonly outcome: AssessmentOutcome;
  /** keep where the model has not answered */
  readonly opinion: AssessmentOpinion;
  /** the model's reason, or what failed, at most 300 characters */
  readonly reason: string;
  /** from the request to its answer */
  readonly durationMs: number;
};
export type AssessmentOpinion = 'UNKNOWN' | 'keep' | 'dismiss' | 'raise';
export type AssessmentOutcome = 'UNKNOWN' | 'answered' | 'refused' | 'malformed' | 'failed' | 'late';
export type Axis = 'UNKNOWN' | 'absence' | 'repetition' | 'rate' | 'cost' | 'fact';
export type BlockStep = {
  readonly reason: string;
};
export type BlockTaskPayload = {
  /** the agent that works on it, or worked on it last */
  readonly agentId: string;
  readonly taskId: string;
  /** how often an agent has stalled on it */
  readonly attempts: number;
  /** where its work is saved: a path or a URI; null: not known */
  readonly checkpoint: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly by: string;
  readonly why: string;
};
export type Blocked = {
  /** how often the task's agents have stalled; null: not counted */
  readonly attempts: null | number;
  /** the attempts of a task; null if it is blocked for another reason */
  readonly limit: null | number;
  readonly reason: string;
  /** the last agent ended by itself; false: its agents stalled */
  readonly endedByItself: boolean;
};
export type BrakeEngagedPayload = {
  readonly agentIds: readonly string[];
  /** fleet, host:<name> or runtime:<id> */
  readonly scope: string;
  readonly why: string;
};
export type BrakeReleasedPayload = {
  readonly by: string;
  readonly why: string;
};
export type BreakerLimits = {
  readonly failureThreshold: number;
  readonly recoveryTimeoutMs: number;
  readonly halfOpenRequests: number;
};
export type BreakerReport = {
  readonly name: string;
  readonly state: BreakerState;
  readonly failures: number;
  readonly next_attempt_at: null | number;
};
export type BreakerResetAskedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly runtimeId: null | string;
  /** of the breaker, as heartbeats report it */
  readonly name: string;
  readonly by: string;
  readonly why: string;
};
export type BreakerState = 'UNKNOWN' | 'CLOSED' | 'OPEN' | 'HALF_OPEN';
export type CallKind = 'UNKNOWN' | 'tool' | 'model' | 'external_api' | 'checkpoint_write';
export type CallOutcome = 'UNKNOWN' | 'ok' | 'error' | 'running' | 'refused' | 'abandoned';
export type CaseClosedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly warrantId: null | string;
  readonly ending: CaseEnding;
  readonly why: string;
  /** whether the instance had ended by then */
  readonly instanceEnded: boolean;
};
export type CaseDecision = 'UNKNOWN' | 'allow_more_time' | 'force_handoff' | 'terminate_and_recover' | 'pardon';
export type CaseEnding = 'UNKNOWN' | 'recovered' | 'pardoned' | 'superseded' | 'expired' | 'executed' | 'failed' | 'withheld';
export type CaseOpenedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly warrantId: null | string;
  readonly requestedBy: null | string;
  readonly state: HealthState;
  readonly axes: readonly string[];
  readonly planName: string;
  /** the steps, resolved */
  readonly plan: readonly PlanStep[];
  readonly runtimeId: null | string;
  readonly evidence: readonly Evidence[];
  /** the step that the case cannot execute, and why */
  readonly note: null | string;
};
export type CaseResumedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly step: StepName;
};
export type CaseWithheldPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly step: StepName;
  readonly why: WithheldWhy;
  readonly detail: string;
};
export type Checkpoint = {
  readonly checkpoint_id: string;
  readonly parent_id: null | string;
  readonly uri: null | string;
  readonly sha256: null | string;
  readonly valid: null | boolean;
  readonly invalid_reason: null | string;
  readonly created_at: null | number;
  readonly completed_work: readonly string[];
  readonly remaining_work: readonly string[];
};
export type CheckpointRecordedPayload = {
  readonly taskId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly attempt: null | number;
  /** whether the gateway accepted it by a token */
  readonly verified: boolean;
  /** when it was written, on the brokers' clock; null: the agent reports no time, or an older version recorded it */
  readonly writtenAt: null | number;
  readonly checkpoint: CheckpointRef;
};
export type CheckpointRef = {
  readonly checkpointId: string;
  readonly parentId: null | string;
  readonly uri: null | string;
  readonly sha256: null | string;
  /** null: not read yet */
  readonly valid: null | boolean;
  readonly invalidReason: null | string;
  readonly createdAt: null | number;
  readonly completedWork: readonly string[];
  readonly remainingWork: readonly string[];
};
export type CircuitBreakerStateChangedPayload = {
  readonly name: string;
  readonly from: BreakerState;
  readonly to: BreakerState;
  readonly agentId: null | string;
  readonly taskId: null | string;
  readonly failures: number;
  readonly nextAttemptAt: null | number;
};
export type ClientReport = {
  /** claude-code, codex, gemini-cli, or what a telemetry source calls itself */
  readonly name: string;
  /** the session of the client, by which it is resumed */
  readonly session_id: null | string;
};
export type ClockDriftEndedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** how far its clock is behind the broker's, with the delay of the heartbeat; negative: ahead */
  readonly driftMs: number;
  readonly why: string;
};
export type ClockDriftedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** how far its clock is behind the broker's, with the delay of the heartbeat; negative: ahead */
  readonly driftMs: number;
  /** the policy's clock_tolerance */
  readonly toleranceMs: number;
};
export type Confidence = 'UNKNOWN' | 'high' | 'medium' | 'low';
export type ConfirmDeathPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly source: string;
  readonly by: string;
  readonly why: string;
  /** the first of the commands that were written at once, such as for the agents of a host; null: it is alone */
  readonly groupId: null | string;
  /** how many commands were written at once */
  readonly of: number;
};
export type ContextUse = {
  readonly tokens_used: number;
  readonly tokens_max: number;
};
export type ControlAppliedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** the command that is answered; its id is the correlation id */
  readonly control: AgentControl;
  readonly by: string;
  readonly why: string;
  /** the first of the commands that were written at once, such as for the agents of a host; null: it is alone */
  readonly groupId: null | string;
  /** how many commands were written at once */
  readonly of: number;
};
export type ControlRefusedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** the command that is answered; its id is the correlation id */
  readonly control: AgentControl;
  readonly by: string;
  readonly why: string;
  /** why, and what to do */
  readonly reason: string;
  /** the first of the commands that were written at once, such as for the agents of a host; null: it is alone */
  readonly groupId: null | string;
  /** how many commands were written at once */
  readonly of: number;
};
export type DeadLetter = {
  readonly original_topic: string;
  readonly original_message: OriginalMessage;
  readonly original_timestamp: number;
  readonly failure_reason: string;
  readonly failure_timestamp: number;
  readonly correlation_id: null | string;
  readonly retry_count: number;
  readonly error_type: string;
  /** 0, or the number of records that a minute left out, where failure_reason is left_out; the original is the first of them */
  readonly left_out: number;
};
export type DecideCasePayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly decision: CaseDecision;
  /** allow_more_time: how long */
  readonly forMs: null | number;
  readonly by: string;
  readonly why: string;
  /** the decision is refused unless this question is open; null: a decision without a link, which needs no question */
  readonly question: null | AnsweredQuestion;
};
export type DecisionLapsedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly decision: CaseDecision;
  readonly by: string;
  /** the step of the decision that was not begun */
  readonly step: StepName;
  /** the reason of the withholding */
  readonly why: string;
};
export type DecisionRefusedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly decision: string;
  readonly by: string;
  readonly reason: string;
};
export type DryRunChangedPayload = {
  readonly on: boolean;
  readonly by: string;
  readonly why: string;
};
export type DryRunOffPayload = {
  readonly by: string;
  readonly why: string;
};
export type DryRunOnPayload = {
  readonly by: string;
  readonly why: string;
};
export type DuplicateInstancePayload = {
  readonly agentId: string;
  /** the current one */
  readonly instanceId: string;
  readonly otherInstanceId: string;
  readonly count: number;
};
export type EndedBy = 'UNKNOWN' | 'cgroup' | 'environment' | 'session';
export type ErrorReport = {
  readonly at: number;
  readonly count: number;
  readonly error_class: null | string;
  readonly hash: null | string;
  /** at most 200 characters */
  readonly message: null | string;
};
export type EscalateStep = {
  /** null: waits for ever */
  readonly timeoutMs: null | number;
  /** the consequence of a timeout */
  readonly onTimeout: EscalationTimeout;
  readonly options: readonly string[];
};
export type EscalationAnswer = {
  readonly how: AnswerKind;
  /** one line of at most 500 characters */
  readonly text: string;
};
export type EscalationDecidedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly decision: CaseDecision;
  readonly forMs: null | number;
  readonly by: string;
  readonly why: string;
};
export type EscalationTicket = {
  readonly ticket_id: string;
  readonly created_at: string;
  readonly worker_agent_id: string;
  readonly worker_session_id: string;
  readonly worker_node_id: string;
  readonly worker_graph_id: string;
  readonly severity: TicketSeverity;
  readonly cause: string;
  readonly judge_reasoning: string;
  readonly suggested_action: string;
  readonly recent_verdicts: readonly string[];
  readonly total_steps_checked: number;
  readonly steps_since_last_accept: number;
  readonly stall_minutes: null | number;
  /** at most 500 characters */
  readonly evidence_snippet: string;
};
export type EscalationTimeout = 'UNKNOWN' | 'terminate' | 'hold';
export type EscalationTriggeredPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly reason: string;
  readonly options: readonly string[];
  /** null: waits for ever */
  readonly deadlineAt: null | number;
  readonly onTimeout: string;
  readonly checkpoint: null | CheckpointRef;
  /** what the agent has answered: its own words, which nothing has verified */
  readonly answers: readonly EscalationAnswer[];
};
export type Evidence = {
  /** the name under which the policy uses the signal */
  readonly signal: string;
  readonly axis: Axis;
  /** for people: "no call for 6 min 12 s, none in flight; limit 6 min" */
  readonly words: string;
  /** when it fires, on the broker's clock */
  readonly onsetAt: null | number;
  /** the figure, in the unit of the limit (durations in milliseconds) */
  readonly value: null | number;
  readonly limit: null | number;
  /** a fact, or a call past its declared deadline */
  readonly hard: boolean;
  /** sorted sources of the patterns that matched, comma-joined (omniclaude) */
  readonly matched: null | string;
  /** how far the signal alone shows that the agent is stuck; UNKNOWN: the event is older than this */
  readonly confidence: Confidence;
};
export type ExemptionChangedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly from: null | string;
  readonly to: null | string;
  /** axes */
  readonly suspends: readonly string[];
  readonly until: null | number;
};
export type ExitReason = 'UNKNOWN' | 'finished' | 'explicit' | 'crashed' | 'resource_limit' | 'lost';
export type ExitReport = {
  readonly code: null | number;
  readonly signal: null | string;
  readonly reason: ExitReason;
};
export type FileTicketPayload = {
  readonly agentId: string;
  readonly ticket: EscalationTicket;
  readonly by: string;
};
export type FleetHaltedPayload = {
  readonly by: string;
  readonly why: string;
};
export type FleetResumedPayload = {
  readonly by: string;
  readonly why: string;
};
export type HaltFleetPayload = {
  readonly by: string;
  readonly why: string;
};
export type HandoffAgentPayload = {
  readonly orderId: string;
  /** rising within an instance */
  readonly number: number;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly caseId: null | string;
  readonly taskId: null | string;
  /** time to live from the broker's stamp */
  readonly ttlMs: number;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  /** of the finding, which determines what counts as progress */
  readonly axes: readonly string[];
  /** the signs that end the finding, as in its warrant: of each group one mark newer than foldedSequence; null: by the axes */
  readonly awaits: null | readonly (readonly Mark[])[];
  readonly message: string;
  readonly deadlineMs: number;
};
export type HandoffRequestedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly deadlineAt: number;
  readonly orderId: string;
  /** the words with which the agent has asked for it; null: its plan or a person has */
  readonly asked: null | string;
};
export type HandoffStep = {
  readonly deadlineMs: number;
  /** for the agent, with {placeholders} */
  readonly message: string;
};
export type HealthState = 'UNKNOWN' | 'HEALTHY' | 'DEGRADED' | 'STUCK' | 'FAILING' | 'TERMINATED';
export type HealthStateChangedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly from: HealthState;
  readonly to: HealthState;
  readonly reason: string;
  readonly exemption: null | string;
  readonly onsetAt: null | number;
  readonly endReason: null | ExitReason;
  /** the order that ended it, as its runtime reports; null if no order did, or it has not ended */
  readonly endOrderId: null | string;
  /** false: no runtime, person or source has reported its end, and it has been silent for seven days: its death is not confirmed */
  readonly endReported: boolean;
  readonly runtimeId: null | string;
  readonly attempt: null | number;
  readonly maxAttempts: null | number;
  readonly evidence: readonly Evidence[];
  /** another task, assigned when the state before was reported; null: the same one, none, or it was HEALTHY */
  readonly leftTaskId: null | string;
  /** the newest checkpoint that is known at the end, without its lists of work; null: none, or it has not ended */
  readonly endCheckpoint: null | CheckpointRef;
};
export type HealthcheckAction = 'UNKNOWN' | 'relaunch_fresh_agent' | 'none';
export type HealthcheckStatus = 'UNKNOWN' | 'stalled' | 'recovered' | 'healthy';
export type Heartbeat = {
  readonly agent_id: string;
  readonly task_id: null | string;
  /** the agent's own clock: data, never judged */
  readonly timestamp: number;
  readonly phase: string;
  readonly last_tool_call: null | number;
  /** tokens processed by this instance so far, input, cached input and output together; null: unknown */
  readonly token_count: null | number;
  readonly error_count: number;
  readonly progress_indicator: string;
  /** one instance of the agent; without it an agent is never acted on destructively */
  readonly instance_id: null | string;
  /** rising within an instance */
  readonly sequence: null | number;
  readonly reporter: Reporter;
  /** the agent's own last heartbeat, where a runtime merged it */
  readonly agent_heartbeat_at: null | number;
  /** the sender's interval between heartbeats */
  readonly interval_ms: null | number;
  /** the sender reports events only, as telemetry does: its silence between calls has no meaning */
  readonly event_driven: boolean;
  /** the ingress that received it (gateway), set by that ingress; null: sent directly to Kafka */
  readonly ingress: null | string;
  /** the token with which the gateway accepted it; null: sent directly to Kafka, and believed as far as the broker's access lists go */
  readonly verified: null | Verified;
  /** a wish; the operators' assignment decides */
  readonly policy: null | string;
  /** team, host, model, graph */
  readonly labels: Readonly<Record<string, string>>;
  readonly runtime_id: null | string;
  readonly attempt: null | number;
  readonly max_attempts: null | number;
  readonly activity: null | Activity;
  /** with activity awaiting_input; null: not known */
  readonly waiting_for: null | WaitingFor;
  /** the turn as the client of the agent reports it; while it is open, terminal output is not activity */
  readonly turn: null | TurnReport;
  /** the agent that started this one as its sub-agent */
  readonly parent_agent_id: null | string;
  /** the coding agent that runs as this agent */
  readonly client: null | ClientReport;
  /** new or changed since the last heartbeat */
  readonly tool_calls: readonly ToolCall[];
  readonly breakers: readonly BreakerReport[];
  readonly reports_checkpoints: null | boolean;
  readonly checkpoint: null | Checkpoint;
  readonly context: null | ContextUse;
  /** tokens of this instance so far, a record for each model; empty: unknown */
  readonly usage: readonly TokenUsage[];
  /** money that the client reports for this instance so far, US dollars */
  readonly cost_usd: null | number;
  readonly work: null | WorkItem;
  readonly output: null | OutputReport;
  readonly steps: null | StepsReport;
  readonly errors: readonly ErrorReport[];
  readonly rate_limit: null | RateLimitReport;
  readonly limits: readonly LimitReport[];
  readonly handoff: null | string;
  readonly blockers: readonly string[];
  readonly probe_reply: null | string;
  readonly exit: null | ExitReport;
};
export type Hold = 'UNKNOWN' | 'took' | 'left' | 'kept';
export type HoldAgentPayload = {
  readonly agentId: string;
  /** null: until released */
  readonly until: null | number;
  readonly by: string;
  readonly why: string;
};
export type HoldChangedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** false: it is released */
  readonly held: boolean;
  /** the end of the hold; null: until its release, or it is released */
  readonly until: null | number;
  readonly by: string;
  readonly why: string;
};
export type HoldRefusedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** true: a hold is refused; false: a release */
  readonly held: boolean;
  readonly by: string;
  readonly why: string;
  readonly reason: string;
};
export type InstanceStartedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly previousInstanceId: null | string;
  readonly runtimeId: null | string;
  readonly attempt: null | number;
  readonly maxAttempts: null | number;
};
export type InterrogateStep = {
  /** after each probe */
  readonly waitsMs: readonly number[];
  /** for the agent, with {placeholders} */
  readonly message: string;
};
export type InterruptAgentPayload = {
  readonly orderId: string;
  /** rising within an instance */
  readonly number: number;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly caseId: null | string;
  readonly taskId: null | string;
  /** time to live from the broker's stamp */
  readonly ttlMs: number;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  /** of the finding, which determines what counts as progress */
  readonly axes: readonly string[];
  /** the signs that end the finding, as in its warrant: of each group one mark newer than foldedSequence; null: by the axes */
  readonly awaits: null | readonly (readonly Mark[])[];
  readonly message: string;
};
export type InterruptStep = {
  /** until the next step */
  readonly waitMs: number;
  /** for the agent, with {placeholders} */
  readonly message: string;
};
export type LapseReason = 'UNKNOWN' | 'progress' | 'new_instance' | 'ended' | 'held' | 'excluded';
export type LeaseTerminalPayload = {
  readonly agentId: string;
  /** the same in each renewal */
  readonly leaseId: string;
  /** time to live from the broker’s stamp; 0 ends the lease */
  readonly ttlMs: number;
  readonly by: string;
  readonly why: string;
};
export type LiftBrakePayload = {
  readonly by: string;
  readonly why: string;
};
export type LimitReport = {
  readonly name: string;
  readonly used: number;
  readonly max: number;
};
export type LostWhy = 'UNKNOWN' | 'silent' | 'crashed' | 'ended';
export type Mark = 'UNKNOWN' | 'heartbeat' | 'activity' | 'call' | 'answer' | 'output' | 'checkpoint' | 'tokens' | 'work' | 'claim' | 'step' | 'accept' | 'completion' | 'success' | 'change' | 'turn';
export type MatchedPattern = {
  /** rate_limit, error, awaiting_input, completion, fatal */
  readonly kind: string;
  /** the pattern as the policy spells it */
  readonly source: string;
  readonly at: number;
  /** the number of the line that matched, from 1 for the first of the output; null: unknown */
  readonly line: null | number;
};
export type NotifyOperatorPayload = {
  readonly ticket_id: string;
  readonly analysis: string;
  readonly urgency: TicketSeverity;
  readonly by: string;
};
export type NotifyPayload = {
  readonly alertKey: string;
  readonly agentId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly caseId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** stuck_agent, circuit_breaker_open, recovery_failed, or one of ours */
  readonly route: string;
  readonly severity: AlertSeverity;
  readonly title: string;
  readonly text: string;
  /** inhibit and release are of the brake, hold and unhold of a group of alerts: they hold back the delivery of other alerts */
  readonly action: AlertAction;
  readonly options: readonly string[];
  /** what the agent of a request asks; without options, the page and the API take its answer */
  readonly questions: readonly RequestQuestion[];
  readonly deadlineAt: null | number;
  /** how old the mapper's time was */
  readonly timeAgeMs: null | number;
  /** gascity: the ticket for which triage requests an operator review; null: none */
  readonly ticket: null | TriagedTicket;
  /** the requested channels, by their names in alerting's configuration; by default, or if empty, alerting's default channels */
  readonly channels: readonly string[];
  /** the action at deadlineAt without a decision */
  readonly onTimeout: null | string;
  /** the newest checkpoint from which the task can continue, and whether it is valid */
  readonly checkpoint: null | CheckpointRef;
  /** the task waits for a person (omniclaude's Blocked) */
  readonly blocked: null | Blocked;
  /** how much it is in a hurry; an escalation and an alert without an acknowledgement raise it, and the severity stays */
  readonly urgency: AlertUrgency;
  /** how long it gathers related notices before sinks are notified; null: as alerting is configured */
  readonly groupWaitMs: null | number;
  /** how often sinks are notified again without an acknowledgement; null: as alerting is configured */
  readonly repeatMs: null | number;
  /** it is raised only if its end does not arrive within this time; null: at once */
  readonly afterMs: null | number;
  /** of inhibit: fleet, host:<name> or runtime:<id>; null: only agentIds. Of hold and unhold: the route */
  readonly scope: null | string;
  /** of inhibit: the agents whose alerts are not delivered */
  readonly agentIds: readonly string[];
  /** the request of an agent that it is about; null: none */
  readonly requestId: null | string;
  /** the whole ticket, for the model that triage asks after its rules; null: no ticket, or one from before */
  readonly filed: null | EscalationTicket;
  /** the id of its item in the inbox, such as case/case-7; null: it has none */
  readonly itemId: null | string;
  /** when the question of a case or a review was put, which its answer names; null: no such question */
  readonly askedAt: null | number;
  /** of settle: a person has pardoned the agent, so the alert is not repeated until it is raised again */
  readonly isPardon: boolean;
  /** of hold and unhold: alerts that were raised from then on are withheld */
  readonly heldFrom: null | number;
  /** of hold: until when they were raised; null: it is not over */
  readonly heldTo: null | number;
  /** what the agent of a request asks, without secrets; of a wait: what its client reports of it, which of a permission may be the tool alone */
  readonly askedText: null | string;
  /** of settle and resolve: the deadline of the request has passed, so its agent may wait for the same answer in its own terminal */
  readonly isExpired: boolean;
  /** of a wait: its beginning */
  readonly waitSince: null | number;
};
export type NudgeAgentPayload = {
  readonly orderId: string;
  /** rising within an instance */
  readonly number: number;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly caseId: null | string;
  readonly taskId: null | string;
  /** time to live from the broker's stamp */
  readonly ttlMs: number;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  /** of the finding, which determines what counts as progress */
  readonly axes: readonly string[];
  /** the signs that end the finding, as in its warrant: of each group one mark newer than foldedSequence; null: by the axes */
  readonly awaits: null | readonly (readonly Mark[])[];
  readonly attempt: number;
  readonly message: string;
};
export type NudgeSentPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly attempt: number;
  readonly of: number;
  readonly message: string;
  readonly orderId: string;
};
export type NudgeStep = {
  readonly attempts: number;
  readonly intervalMs: number;
  /** for the agent, with {placeholders} */
  readonly message: string;
};
export type OnProbationFailure = 'UNKNOWN' | 'retry' | 'review';
export type OpenRequestPayload = {
  readonly requestId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** the coding agent's client */
  readonly client: string;
  readonly kind: RequestKind;
  /** the tool that needs the permission, or asks */
  readonly tool: null | string;
  /** what is asked, without secrets, at most 1,000 characters */
  readonly text: string;
  readonly choices: readonly RequestChoice[];
  /** what kind question asks; empty for a permission. Without choices, an answer names each of them */
  readonly questions: readonly RequestQuestion[];
  /** an answer counts before this moment */
  readonly deadlineAt: number;
  readonly atDeadline: RequestOutcome;
  /** the ingress at which the hook waits */
  readonly heldBy: string;
};
export type OrderKind = 'UNKNOWN' | 'nudge' | 'probe' | 'handoff' | 'pause' | 'resume' | 'reset_breaker' | 'terminate' | 'spawn' | 'interrupt' | 'resume_session';
export type OrderOutcome = 'UNKNOWN' | 'delivered' | 'answered' | 'done' | 'superseded' | 'expired' | 'uncertain' | 'halted' | 'failed';
export type OrderReceiptPayload = {
  readonly orderId: string;
  readonly kind: OrderKind;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly outcome: OrderOutcome;
  readonly why: null | string;
  readonly at: number;
  /** a death, seen by the runtime */
  readonly confirmed: boolean;
  /** SIGKILL was needed */
  readonly forced: boolean;
  readonly by: null | EndedBy;
  readonly code: null | number;
  readonly signal: null | string;
  readonly claimsReleased: readonly string[];
  readonly checkpoint: null | CheckpointRef;
  readonly completedWork: readonly string[];
  readonly remainingWork: readonly string[];
  readonly forensics: null | string;
  readonly lastOutput: readonly string[];
};
export type OriginalMessage = {
  readonly key: null | string;
  /** at most 64 KiB */
  readonly value: null | Buffer;
  readonly truncated: boolean;
  readonly offset: number;
  readonly partition: number;
};
export type OutputReport = {
  readonly last_output_at: null | number;
  readonly lines: null | number;
  readonly matched_patterns: readonly MatchedPattern[];
  /** new since the last heartbeat, the newest last; no signal reads them */
  readonly shown_errors: readonly ShownError[];
  readonly repeated_error: null | RepeatedError;
  readonly result_at: null | number;
  readonly completion_signal_at: null | number;
  readonly tail: readonly string[];
};
export type PauseAgentPayload = {
  readonly orderId: string;
  /** rising within an instance */
  readonly number: number;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly caseId: null | string;
  readonly taskId: null | string;
  /** time to live from the broker's stamp */
  readonly ttlMs: number;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  /** of the finding, which determines what counts as progress */
  readonly axes: readonly string[];
  /** the signs that end the finding, as in its warrant: of each group one mark newer than foldedSequence; null: by the axes */
  readonly awaits: null | readonly (readonly Mark[])[];
  readonly forMs: number;
};
export type PauseStep = {
  readonly backoffMs: number;
  /** for the agent, with {placeholders} */
  readonly message: string;
};
export type Place = {
  readonly host: null | string;
  readonly runtimeId: null | string;
};
export type PlanStep = {
  /** its name; the field with this name has its settings. A reader that does not support the step skips it */
  readonly step: string;
  readonly nudge: null | NudgeStep;
  readonly interrogate: null | InterrogateStep;
  readonly interrupt: null | InterruptStep;
  readonly resume: null | ResumeStep;
  readonly escalate: null | EscalateStep;
  readonly handoff: null | HandoffStep;
  readonly pause: null | PauseStep;
  readonly terminate: null | TerminateStep;
  readonly block: null | BlockStep;
  readonly alert: null | AlertStep;
};
export type PolicyOrigin = 'UNKNOWN' | 'preset' | 'file' | 'applied';
export type PolicyPublishedPayload = {
  readonly name: string;
  readonly hash: string;
  /** canonical JSON */
  readonly document: string;
  readonly by: string;
  /** where it comes from */
  readonly origin: null | PolicyOrigin;
  /** of the command that applied it */
  readonly why: null | string;
  /** whether no policy with its name is in force any more */
  readonly withdrawn: boolean;
};
export type PolicyRef = {
  readonly name: string;
  /** the document's content hash: the first 16 hexadecimal digits of SHA-256 over its canonical JSON */
  readonly hash: string;
};
export type PolicyRefusedPayload = {
  readonly name: string;
  /** of the refused document; null: a removal was refused */
  readonly hash: null | string;
  readonly by: string;
  /** of the command */
  readonly why: string;
  /** each with its place and remedy */
  readonly mistakes: readonly string[];
};
export type PresentWhy = 'UNKNOWN' | 'first_heartbeat' | 'returned' | 'new_instance' | 'still_present';
export type PrincipalKind = 'UNKNOWN' | 'operator' | 'runtime' | 'agent';
export type ProbationPassedPayload = {
  readonly taskId: string;
  readonly agentId: string;
  readonly attempt: number;
};
export type ProbeAgentPayload = {
  readonly orderId: string;
  /** rising within an instance */
  readonly number: number;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly caseId: null | string;
  readonly taskId: null | string;
  /** time to live from the broker's stamp */
  readonly ttlMs: number;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  /** of the finding, which determines what counts as progress */
  readonly axes: readonly string[];
  /** the signs that end the finding, as in its warrant: of each group one mark newer than foldedSequence; null: by the axes */
  readonly awaits: null | readonly (readonly Mark[])[];
  readonly message: string;
  readonly nonce: string;
  readonly waitMs: number;
};
export type QueenInterventionRequestedPayload = {
  readonly ticket_id: string;
  readonly analysis: string;
  readonly severity: TicketSeverity;
  readonly queen_graph_id: string;
  readonly queen_stream_id: string;
};
export type QuestionAnswer = {
  /** the name of the question */
  readonly question: string;
  readonly labels: readonly string[];
  /** the person's own words; null: none */
  readonly text: null | string;
};
export type QuestionOption = {
  /** what an answer has, unique in its question */
  readonly label: string;
  readonly description: null | string;
  /** what the client shows beside the option */
  readonly preview: null | string;
};
export type RateLimitReport = {
  readonly retry_at: null | number;
};
export type RecoverTaskPayload = {
  readonly taskId: string;
  /** the dead one */
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly caseId: null | string;
  readonly reason: string;
  /** a death that a runtime, a person or a configured source has confirmed */
  readonly confirmed: boolean;
  /** whether a person requested it; skips the back-off */
  readonly immediate: boolean;
  readonly by: null | string;
  readonly checkpoint: null | CheckpointRef;
  readonly completedWork: readonly string[];
  readonly remainingWork: readonly string[];
  readonly idleMinutes: null | number;
  readonly contextUsagePct: null | number;
  /** the policy's recovery section, resolved */
  readonly recovery: RecoverySettings;
  readonly runtimeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** the end of the limit that the dead agent had reached; null: at once */
  readonly notBefore: null | number;
  /** the last lines that the dead agent printed, as its finding carries them */
  readonly lastOutput: readonly string[];
  /** the dead agent had ended when it was found; false: a finding, or a person, ended it */
  readonly endedByItself: boolean;
};
export type RecoveryCompletedPayload = {
  readonly taskId: string;
  readonly newAgentId: string;
  readonly instanceId: null | string;
  readonly attempt: number;
};
export type RecoveryFailedPayload = {
  readonly taskId: string;
  readonly reason: string;
  readonly attempts: number;
};
export type RecoveryInitiatedPayload = {
  readonly taskId: string;
  /** an id, or task-start */
  readonly fromCheckpoint: string;
  readonly attempt: number;
  readonly of: number;
  readonly newAgentId: string;
  readonly deadAgentId: null | string;
  readonly orderId: string;
  readonly runtimeId: string;
  readonly skipped: readonly SkippedCheckpoint[];
};
export type RecoveryRefusedPayload = {
  readonly taskId: string;
  /** the agent that the spawn would have replaced */
  readonly agentId: string;
  readonly caseId: null | string;
  readonly by: string;
  readonly reason: string;
};
export type RecoverySettings = {
  readonly maxAttempts: number;
  /** before attempts 1, 2, 3 …; the last repeats */
  readonly delaysMs: readonly number[];
  /** the random extension of a delay: 0.2 is a fifth */
  readonly jitter: number;
  readonly spawnDeadlineMs: number;
  readonly probationMs: number;
  readonly stableMs: number;
  /** the longest wait for the reset of a limit */
  readonly limitWaitMs: number;
  readonly onProbationFailure: OnProbationFailure;
  readonly breaker: BreakerLimits;
  /** writes onex.evt.omniclaude.agent-healthcheck.v1 */
  readonly emitHealthcheck: boolean;
  /** when the count of attempts starts again: after the stable time, after that and a newer checkpoint than at the last death, or by a review only */
  readonly resetAttempts: ResetAttempts;
  /** spawns an hour of all tasks with this policy, in one scope; null: no limit of the policy */
  readonly maxAttemptsPerHour: null | number;
};
export type RecoveryWaitingPayload = {
  readonly taskId: string;
  /** of the newest refusal */
  readonly reason: string;
  /** how often in a row */
  readonly refusals: number;
  /** the dead agent; null: a record from before this field */
  readonly agentId: null | string;
  /** how it ended, for people; null: a record from before this field */
  readonly cause: null | string;
  /** the last lines that it printed */
  readonly lastOutput: readonly string[];
};
export type ReleaseAgentPayload = {
  readonly agentId: string;
  readonly by: string;
  readonly why: string;
};
export type ReleaseWhy = 'UNKNOWN' | 'finished' | 'reassigned' | 'not_needed' | 'abandoned' | 'left';
export type RepeatedError = {
  readonly hash: string;
  readonly count: number;
  readonly first_at: number;
};
export type Reporter = 'UNKNOWN' | 'agent' | 'runtime';
export type RequestAnsweredPayload = {
  readonly requestId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly kind: RequestKind;
  readonly option: string;
  /** one for each question, and the option has them in words; empty: the option is the answer */
  readonly answers: readonly QuestionAnswer[];
  readonly by: string;
  readonly why: string;
  /** the agent's open requests after this event */
  readonly open: number;
};
export type RequestChoice = {
  /** what an answer names */
  readonly name: string;
  /** what the client calls it */
  readonly label: string;
};
export type RequestExpiredPayload = {
  readonly requestId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly kind: RequestKind;
  readonly outcome: RequestOutcome;
  /** the agent's open requests after this event */
  readonly open: number;
};
export type RequestKind = 'UNKNOWN' | 'permission' | 'question';
export type RequestOpenedPayload = {
  readonly requestId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** the coding agent's client */
  readonly client: string;
  readonly kind: RequestKind;
  /** the tool that needs the permission, or asks */
  readonly tool: null | string;
  /** what is asked, without secrets, at most 1,000 characters */
  readonly text: string;
  readonly choices: readonly RequestChoice[];
  /** what kind question asks; empty for a permission. Without choices, an answer names each of them */
  readonly questions: readonly RequestQuestion[];
  /** an answer counts before this moment */
  readonly deadlineAt: number;
  readonly atDeadline: RequestOutcome;
  /** the ingress at which the hook waits */
  readonly heldBy: string;
  /** the agent's open requests after this event */
  readonly open: number;
};
export type RequestOutcome = 'UNKNOWN' | 'no_decision' | 'allow';
export type RequestQuestion = {
  /** what an answer names, unique in its request */
  readonly name: string;
  /** the client's short title, empty where it has none */
  readonly header: string;
  /** what is asked, without secrets, at most 1,000 characters */
  readonly text: string;
  /** an answer may have several labels */
  readonly isMultiple: boolean;
  readonly options: readonly QuestionOption[];
};
export type RequestRefusedPayload = {
  readonly requestId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  /** the agent's open requests after this event */
  readonly open: number;
  /** the first refusal since the agent had room for another request */
  readonly isFirst: boolean;
};
export type RequestStepPayload = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly taskId: null | string;
  readonly runtimeId: null | string;
  readonly step: RequestedStep;
  readonly message: null | string;
  readonly by: string;
  readonly why: string;
  readonly labels: Readonly<Record<string, string>>;
  /** the recovery section to use; null: the default policy's */
  readonly recovery: null | RecoverySettings;
  /** when recovery requested it, by the time of tasks: it repeats the request after a growing wait while two attempts are alive; null: a person requested it, once */
  readonly askedAt: null | number;
};
export type RequestWithdrawnPayload = {
  readonly requestId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly kind: RequestKind;
  readonly why: string;
  /** an answer was accepted, and never reached the hook */
  readonly wasAnswered: boolean;
  /** the agent's open requests after this event */
  readonly open: number;
};
export type RequestedStep = 'UNKNOWN' | 'nudge' | 'handoff' | 'terminate' | 'terminate_and_recover' | 'restart';
export type ResetAttempts = 'UNKNOWN' | 'after_stable' | 'after_progress' | 'by_people';
export type ResetBreakerOrderPayload = {
  readonly orderId: string;
  /** rising within an instance */
  readonly number: number;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly caseId: null | string;
  readonly taskId: null | string;
  /** time to live from the broker's stamp */
  readonly ttlMs: number;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  /** of the finding, which determines what counts as progress */
  readonly axes: readonly string[];
  /** the signs that end the finding, as in its warrant: of each group one mark newer than foldedSequence; null: by the axes */
  readonly awaits: null | readonly (readonly Mark[])[];
  readonly name: string;
};
export type ResetBreakerPayload = {
  readonly agentId: string;
  readonly name: string;
  readonly by: string;
  readonly why: string;
};
export type ResolveAlertPayload = {
  readonly alertKey: string;
  readonly by: string;
  readonly why: null | string;
};
export type ResumeAgentPayload = {
  readonly orderId: string;
  /** rising within an instance */
  readonly number: number;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly caseId: null | string;
  readonly taskId: null | string;
  /** time to live from the broker's stamp */
  readonly ttlMs: number;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  /** of the finding, which determines what counts as progress */
  readonly axes: readonly string[];
  /** the signs that end the finding, as in its warrant: of each group one mark newer than foldedSequence; null: by the axes */
  readonly awaits: null | readonly (readonly Mark[])[];
  readonly message: null | string;
};
export type ResumeFleetPayload = {
  readonly by: string;
  readonly why: string;
};
export type ResumeSessionPayload = {
  readonly orderId: string;
  /** rising within an instance */
  readonly number: number;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly caseId: null | string;
  readonly taskId: null | string;
  /** time to live from the broker's stamp */
  readonly ttlMs: number;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  /** of the finding, which determines what counts as progress */
  readonly axes: readonly string[];
  /** the signs that end the finding, as in its warrant: of each group one mark newer than foldedSequence; null: by the axes */
  readonly awaits: null | readonly (readonly Mark[])[];
  readonly message: string;
  /** between SIGINT and SIGTERM */
  readonly graceMs: number;
};
export type ResumeStep = {
  /** until the next step */
  readonly waitMs: number;
  /** between SIGINT and SIGTERM */
  readonly graceMs: number;
  /** skipped if the session was resumed within this time */
  readonly againAfterMs: number;
  /** for the agent, with {placeholders} */
  readonly message: string;
};
export type ReviewDecidedPayload = {
  readonly taskId: string;
  readonly decision: ReviewDecision;
  readonly by: string;
  readonly why: string;
};
export type ReviewDecision = 'UNKNOWN' | 'retry' | 'abandon' | 'reset';
export type ReviewRequiredPayload = {
  readonly taskId: string;
  readonly reason: string;
  readonly attempts: number;
  readonly agentId: null | string;
  readonly checkpoint: null | CheckpointRef;
  /** the used-up attempts of the task; null if it is under review for another reason */
  readonly of: null | number;
  /** the last lines that the dead agent printed */
  readonly lastOutput: readonly string[];
  /** the attempts are used up, and the last agent ended by itself */
  readonly endedByItself: boolean;
};
export type ReviewTaskPayload = {
  readonly taskId: string;
  readonly decision: ReviewDecision;
  readonly by: string;
  readonly why: string;
};
export type RuntimeAnnouncedPayload = {
  readonly runtimeId: string;
  readonly host: string;
  readonly capacity: number;
  readonly agents: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** the tasks that it can start: one fits where its pattern and all its labels do */
  readonly templates: readonly TemplateFit[];
};
export type ShownError = {
  /** error or fatal */
  readonly kind: string;
  /** of the newest of these lines */
  readonly at: number;
  /** lines that differ in figures only count as one error */
  readonly count: number;
  /** the newest of these lines; at most 200 characters */
  readonly message: string;
};
export type SilenceAlertsPayload = {
  readonly matchers: readonly AlertMatcher[];
  readonly until: number;
  readonly by: string;
  readonly why: string;
  /** the silence that it sets or replaces; empty: the id of its event */
  readonly silenceId: string;
};
export type SilenceChangedPayload = {
  readonly matchers: readonly AlertMatcher[];
  readonly until: number;
  readonly by: string;
  readonly why: string;
  /** the silence that it sets or replaces; empty: the id of its event */
  readonly silenceId: string;
  /** a person ends the silence before its time */
  readonly silenceEnds: boolean;
};
export type SkipWhy = 'UNKNOWN' | 'dry_run' | 'requires' | 'no_runtime' | 'no_instance' | 'no_task' | 'no_session' | 'unknown_step';
export type SkippedCheckpoint = {
  readonly checkpointId: string;
  readonly why: string;
};
export type Snapshot = {
  readonly value: Buffer;
};
export type SpawnAdmittedPayload = {
  readonly requestId: string;
  readonly taskId: string;
  readonly attempt: number;
  readonly runtimeId: string;
  readonly validUntil: number;
  readonly dryRun: boolean;
};
export type SpawnAgentPayload = {
  readonly orderId: string;
  /** rising within an instance */
  readonly number: number;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly caseId: null | string;
  readonly taskId: null | string;
  /** time to live from the broker's stamp */
  readonly ttlMs: number;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  /** of the finding, which determines what counts as progress */
  readonly axes: readonly string[];
  readonly requestId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** newest first */
  readonly checkpoints: readonly CheckpointRef[];
  readonly completedWork: readonly string[];
  readonly remainingWork: readonly string[];
  readonly stallReason: string;
  readonly handover: string;
  readonly deadAgentId: null | string;
  readonly deadInstanceId: null | string;
  readonly labels: Readonly<Record<string, string>>;
};
export type SpawnImpossiblePayload = {
  readonly taskId: string;
  /** why, and the lines to write */
  readonly reason: string;
  /** those of the task */
  readonly labels: Readonly<Record<string, string>>;
  /** the dead agent; null: a record from before this field */
  readonly agentId: null | string;
  /** how it ended, for people; null: a record from before this field */
  readonly cause: null | string;
  /** the last lines that it printed */
  readonly lastOutput: readonly string[];
};
export type SpawnOutcome = 'UNKNOWN' | 'spawned' | 'checkpoint_invalid' | 'not_needed' | 'superseded' | 'expired' | 'uncertain' | 'halted' | 'failed';
export type SpawnReceiptPayload = {
  readonly orderId: string;
  readonly requestId: null | string;
  readonly taskId: string;
  readonly attempt: number;
  readonly runtimeId: string;
  readonly outcome: SpawnOutcome;
  readonly why: null | string;
  readonly at: number;
  readonly agentId: null | string;
  readonly instanceId: null | string;
  readonly checkpointId: null | string;
  readonly skipped: readonly SkippedCheckpoint[];
};
export type SpawnWithheldPayload = {
  readonly requestId: string;
  readonly taskId: string;
  readonly attempt: number;
  readonly why: WithheldWhy;
  readonly detail: string;
};
export type SpendingLimitLiftedPayload = {
  readonly scope: SpendingScope;
  readonly scopeId: string;
  readonly why: string;
};
export type SpendingLimitReachedPayload = {
  readonly scope: SpendingScope;
  /** an agent, a task, or the policy whose day it is */
  readonly scopeId: string;
  readonly tokens: number;
  readonly usd: null | number;
  readonly limitTokens: null | number;
  readonly limitUsd: null | number;
  /** when the day of a daily limit ends; null: open */
  readonly until: null | number;
};
export type SpendingScope = 'UNKNOWN' | 'agent' | 'task' | 'day';
export type StallReason = 'UNKNOWN' | 'inactivity' | 'context_overflow' | 'rate_limit';
export type StepAdmittedPayload = {
  readonly requestId: string;
  readonly caseId: string;
  readonly agentId: string;
  readonly step: StepName;
  readonly validUntil: number;
  readonly dryRun: boolean;
};
export type StepClass = 'UNKNOWN' | 'soft' | 'destructive';
export type StepName = 'UNKNOWN' | 'nudge' | 'interrogate' | 'escalate' | 'handoff' | 'pause' | 'resume' | 'terminate' | 'recover' | 'block' | 'alert' | 'interrupt';
export type StepSkippedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly step: StepName;
  readonly why: SkipWhy;
  readonly detail: string;
};
export type StepWithheldPayload = {
  readonly requestId: string;
  readonly caseId: string;
  readonly agentId: string;
  readonly step: StepName;
  readonly why: WithheldWhy;
  readonly detail: string;
};
export type StepsReport = {
  readonly total_steps: number;
  readonly verdicts: readonly Verdict[];
};
export type TaskBlockedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly reason: string;
  /** which attempt at the task the agent is, 0: the first; null: not reported */
  readonly attempt: null | number;
  /** where its work is saved; null: not known */
  readonly checkpoint: null | CheckpointRef;
  /** the agent had ended when it was found; false: a finding, or a person, blocks the task */
  readonly endedByItself: boolean;
};
export type TaskHealthChangedPayload = {
  readonly taskId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly attempt: null | number;
  readonly hold: Hold;
  readonly from: HealthState;
  readonly to: HealthState;
  readonly endReason: null | ExitReason;
  /** whether Vigil ordered the end */
  readonly ordered: boolean;
  readonly runtimeId: null | string;
  /** whether the gateway accepts the agent's heartbeats by a token */
  readonly verified: boolean;
  readonly idleMinutes: null | number;
  readonly contextUsagePct: null | number;
  readonly evidence: readonly Evidence[];
  /** its policy enables omniclaude's event */
  readonly emitHealthcheck: boolean;
};
export type TaskLeft = 'UNKNOWN' | 'in_progress' | 'released' | 'blocked';
export type TaskReleasedPayload = {
  readonly taskId: string;
  readonly why: ReleaseWhy;
  readonly detail: null | string;
};
export type TemplateFit = {
  /** `*` matches anything */
  readonly task: string;
  /** the labels that a task must have */
  readonly labels: Readonly<Record<string, string>>;
};
export type TerminalChangedPayload = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly runtimeId: string;
  /** 0: these are all lines. Else one more than that of the previous change */
  readonly sequence: number;
  /** the number of lines that leave at the top */
  readonly removed: number;
  /** the number of lines after them that stay; the others are replaced */
  readonly kept: number;
  /** the lines that follow */
  readonly lines: readonly string[];
  /** the number of lines that came and left between two changes, and are not published */
  readonly unseen: number;
  /** when the agent last printed, by its host’s clock; null: not known */
  readonly outputAt: null | number;
};
export type TerminalClosedPayload = {
  readonly agentId: string;
  /** null: none runs there */
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly why: string;
};
export type TerminalUse = 'UNKNOWN' | 'opened' | 'typed' | 'left';
export type TerminalUsedPayload = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly taskId: null | string;
  readonly runtimeId: null | string;
  /** the user of the host */
  readonly by: string;
  readonly use: TerminalUse;
  /** the length of what was typed since the last report; 0 for another use */
  readonly bytes: number;
  /** by the clock of the host */
  readonly at: number;
};
export type TerminateAgentPayload = {
  readonly orderId: string;
  /** rising within an instance */
  readonly number: number;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly runtimeId: string;
  readonly caseId: null | string;
  readonly taskId: null | string;
  /** time to live from the broker's stamp */
  readonly ttlMs: number;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  /** of the finding, which determines what counts as progress */
  readonly axes: readonly string[];
  /** the signs that end the finding, as in its warrant: of each group one mark newer than foldedSequence; null: by the axes */
  readonly awaits: null | readonly (readonly Mark[])[];
  readonly reason: string;
  readonly graceMs: number;
  readonly cleanupMs: number;
  readonly leave: TaskLeft;
  readonly release: readonly string[];
  /** a person asked for a restart: after its end the runtime starts the same command again */
  readonly restart: boolean;
};
export type TerminateRequirement = 'UNKNOWN' | 'hard' | 'two_axes' | 'unanswered' | 'high' | 'two_medium';
export type TerminateStep = {
  readonly graceMs: number;
  readonly cleanupMs: number;
  /** the state in which its task is left */
  readonly leave: TaskLeft;
  /** names of the commands that release its claims */
  readonly release: readonly string[];
  /** any of them; empty: no condition */
  readonly requires: readonly TerminateRequirement[];
};
export type TerminationUnconfirmedPayload = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly orderId: string;
  readonly why: string;
};
export type TestChannelPayload = {
  /** its name in the configuration of alerting */
  readonly channel: string;
  readonly by: string;
  readonly why: null | string;
};
export type TicketAssessedPayload = {
  readonly alertKey: string;
  readonly agentId: null | string;
  readonly taskId: null | string;
  readonly ticket_id: string;
  /** its name in the configuration */
  readonly model: string;
  readonly outcome: AssessmentOutcome;
  /** keep where the model has not answered */
  readonly opinion: AssessmentOpinion;
  /** the model's reason, or what failed, at most 300 characters */
  readonly reason: string;
  /** from the request to its answer */
  readonly durationMs: number;
  /** whether the opinion changed what the rules decided */
  readonly isApplied: boolean;
};
export type TicketDismissedPayload = {
  readonly alertKey: string;
  readonly agentId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ticket_id: string;
  /** the reason of the dismissal, and the content of the ticket */
  readonly analysis: string;
  readonly severity: TicketSeverity;
};
export type TicketFindings = {
  readonly signals: readonly string[];
  readonly transient: boolean;
  readonly progressAt: null | number;
  readonly unrecoverable: boolean;
  readonly loop: boolean;
};
export type TicketSeverity = 'UNKNOWN' | 'low' | 'medium' | 'high' | 'critical';
export type TokenIssuedPayload = {
  /** the claim jti */
  readonly tokenId: string;
  readonly kind: TokenKind;
  /** of the runtime or agent */
  readonly name: string;
  /** patterns of the tasks that its principal may name; `*` matches any text */
  readonly tasks: readonly string[];
  /** patterns of the values that its principal may set, by label */
  readonly labels: Readonly<Record<string, readonly string[]>>;
  /** the policies that its principal may request */
  readonly policies: readonly string[];
  /** the largest capacity that its principal may announce, agents */
  readonly capacity: number;
  readonly expiresAt: number;
  /** who created it */
  readonly by: string;
};
export type TokenKind = 'UNKNOWN' | 'runtime' | 'agent';
export type TokenRevokedPayload = {
  readonly tokenId: string;
  readonly by: string;
  readonly why: string;
};
export type TokenUsage = {
  readonly model: null | string;
  /** not counting those read from or written to a cache */
  readonly input_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
};
export type ToolCall = {
  readonly call_id: string;
  readonly kind: CallKind;
  readonly tool: string;
  readonly args_hash: null | string;
  readonly result_hash: null | string;
  readonly masked_result_hash: null | string;
  readonly outcome: CallOutcome;
  readonly error_class: null | string;
  readonly started_at: null | number;
  readonly ended_at: null | number;
  readonly deadline_at: null | number;
  readonly mutating: boolean;
  readonly polling: boolean;
  readonly target: null | string;
  /** whether it checks the work: a test, a build, a lint or a type check. Its outcome is the outcome of the check */
  readonly checking: boolean;
};
export type TriagedTicket = {
  readonly ticket_id: string;
  readonly analysis: string;
  readonly severity: TicketSeverity;
};
export type TurnReport = {
  /** from the prompt to the end of the answer */
  readonly open: boolean;
  readonly started_at: null | number;
  /** the last event that the client of the agent reported in the turn */
  readonly last_event_at: null | number;
};
export type Verdict = 'UNKNOWN' | 'ACCEPT' | 'RETRY' | 'CONTINUE' | 'ESCALATE';
export type Verified = {
  readonly kind: PrincipalKind;
  /** of the runtime or agent; operator for the operator's token */
  readonly name: string;
};
export type WaitEndedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** when the wait was first reported */
  readonly since: number;
  readonly why: string;
};
export type WaitKind = 'UNKNOWN' | 'permission' | 'question' | 'plan' | 'prompt' | 'dialog';
export type WaitOverduePayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  /** when the wait was first reported */
  readonly since: number;
  readonly limitMs: number;
  /** what it waits for; null: not reported */
  readonly kind: null | WaitKind;
  /** its question; null: not reported */
  readonly text: null | string;
};
export type WaitingFor = {
  readonly kind: WaitKind;
  /** what is asked, at most 500 characters */
  readonly text: null | string;
  /** on the clock of the sender */
  readonly since: null | number;
};
export type WarrantFiledPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly warrantId: string;
  readonly state: HealthState;
  /** the axes on which it was found: absence, repetition, rate, cost, fact */
  readonly axes: readonly string[];
  /** the signs that end it: of each group, one newer than foldedSequence; an empty group: none that an order executor can see. Null: by the axes */
  readonly awaits: null | readonly (readonly Mark[])[];
  /** whether the finding contains a hard signal: a fact, or a call past its declared deadline */
  readonly hard: boolean;
  /** the "when" of the plan */
  readonly planName: string;
  /** the steps, resolved: a case needs nothing else of the policy, so nothing in flight changes its rules */
  readonly plan: readonly PlanStep[];
  /** the policy's recovery section, resolved */
  readonly recovery: RecoverySettings;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  readonly runtimeId: null | string;
  readonly attempt: null | number;
  readonly maxAttempts: null | number;
  readonly onsetAt: null | number;
  /** the lease: without a renewal by then it is void */
  readonly voidAt: number;
  readonly evidence: readonly Evidence[];
  readonly checkpoint: null | CheckpointRef;
  /** the coding agent that runs as this agent; null: none that Vigil supports */
  readonly client: null | ClientReport;
  readonly activity: null | string;
  readonly endReason: null | ExitReason;
  /** the end of the last reported limit of its account or API; null if it reported no limit, or no end */
  readonly limitedUntil: null | number;
  readonly idleMinutes: null | number;
  readonly contextUsagePct: null | number;
  /** watched time since the last checkpoint, or since the start of the instance if there is none */
  readonly workedMinutes: null | number;
  /** the agent that started this one as its sub-agent: the steps that act on the session are taken on it */
  readonly parentAgentId: null | string;
  /** the finding, in a sentence for the agent itself; without arguments and results */
  readonly finding: string;
  /** the agent's next possible action */
  readonly advice: string;
  readonly title: string;
  readonly label: string;
  readonly metadata: WarrantMetadata;
  /** the last lines that it printed before its end, at most 5, each at most 140 characters; empty: it has not ended, or printed nothing */
  readonly lastOutput: readonly string[];
};
export type WarrantLapsedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly warrantId: string;
  readonly why: LapseReason;
};
export type WarrantMetadata = {
  readonly target: string;
  readonly reason: string;
  readonly requester: string;
  readonly matched_pattern: string;
  readonly wisp_id: string;
  readonly wisp_age: string;
};
export type WarrantRenewedPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly warrantId: string;
  readonly state: HealthState;
  /** the axes on which it was found: absence, repetition, rate, cost, fact */
  readonly axes: readonly string[];
  /** the signs that end it: of each group, one newer than foldedSequence; an empty group: none that an order executor can see. Null: by the axes */
  readonly awaits: null | readonly (readonly Mark[])[];
  /** whether the finding contains a hard signal: a fact, or a call past its declared deadline */
  readonly hard: boolean;
  /** the "when" of the plan */
  readonly planName: string;
  /** the steps, resolved: a case needs nothing else of the policy, so nothing in flight changes its rules */
  readonly plan: readonly PlanStep[];
  /** the policy's recovery section, resolved */
  readonly recovery: RecoverySettings;
  /** the last heartbeat sequence that the finding had folded */
  readonly foldedSequence: null | number;
  readonly runtimeId: null | string;
  readonly attempt: null | number;
  readonly maxAttempts: null | number;
  readonly onsetAt: null | number;
  /** the lease: without a renewal by then it is void */
  readonly voidAt: number;
  readonly evidence: readonly Evidence[];
  readonly checkpoint: null | CheckpointRef;
  /** the coding agent that runs as this agent; null: none that Vigil supports */
  readonly client: null | ClientReport;
  readonly activity: null | string;
  readonly endReason: null | ExitReason;
  /** the end of the last reported limit of its account or API; null if it reported no limit, or no end */
  readonly limitedUntil: null | number;
  readonly idleMinutes: null | number;
  readonly contextUsagePct: null | number;
  /** watched time since the last checkpoint, or since the start of the instance if there is none */
  readonly workedMinutes: null | number;
  /** the agent that started this one as its sub-agent: the steps that act on the session are taken on it */
  readonly parentAgentId: null | string;
  /** the finding, in a sentence for the agent itself; without arguments and results */
  readonly finding: string;
  /** the agent's next possible action */
  readonly advice: string;
  /** the last lines that it printed before its end, at most 5, each at most 140 characters; empty: it has not ended, or printed nothing */
  readonly lastOutput: readonly string[];
  /** the exemption of a wait that began after the finding: no step of the plan begins until a renewal without it; null: none does */
  readonly suspendedBy: null | string;
};
export type WithdrawRequestPayload = {
  readonly requestId: string;
  readonly agentId: string;
  readonly why: string;
};
export type WithdrawStepPayload = {
  readonly requestId: string;
  readonly caseId: string;
  readonly agentId: string;
  readonly why: string;
};
export type WithheldWhy = 'UNKNOWN' | 'halted' | 'brake' | 'budget' | 'cooldown' | 'blind' | 'no_runtime' | 'no_template' | 'queue_full';
export type WorkItem = {
  readonly id: string;
  readonly status: null | string;
  readonly updated_at: null | number;
  readonly claim_refreshed_at: null | number;
  readonly comment_count: null | number;
};
export type WorkerEscalationTicketPayload = {
  readonly agentId: string;
  readonly instanceId: null | string;
  readonly taskId: null | string;
  readonly episodeId: null | string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ticket: EscalationTicket;
  readonly findings: TicketFindings;
};

/** Every event and command: its topic, its name, its payload. */
export type Content =
  /** Ask the agent to checkpoint and stop. */
  | { readonly topic: 'onex.cmd.agent-runtime.agent-order.v1'; readonly type: 'HANDOFF_AGENT'; readonly payload: HandoffAgentPayload }
  /** Interrupt the turn of the agent’s client, and send the message at its prompt. */
  | { readonly topic: 'onex.cmd.agent-runtime.agent-order.v1'; readonly type: 'INTERRUPT_AGENT'; readonly payload: InterruptAgentPayload }
  /** Deliver this text to the agent, between calls. */
  | { readonly topic: 'onex.cmd.agent-runtime.agent-order.v1'; readonly type: 'NUDGE_AGENT'; readonly payload: NudgeAgentPayload }
  /** Between calls. */
  | { readonly topic: 'onex.cmd.agent-runtime.agent-order.v1'; readonly type: 'PAUSE_AGENT'; readonly payload: PauseAgentPayload }
  /** Ask the agent to answer with the nonce. */
  | { readonly topic: 'onex.cmd.agent-runtime.agent-order.v1'; readonly type: 'PROBE_AGENT'; readonly payload: ProbeAgentPayload }
  /** Close a breaker. */
  | { readonly topic: 'onex.cmd.agent-runtime.agent-order.v1'; readonly type: 'RESET_BREAKER'; readonly payload: ResetBreakerOrderPayload }
  /** Continue. */
  | { readonly topic: 'onex.cmd.agent-runtime.agent-order.v1'; readonly type: 'RESUME_AGENT'; readonly payload: ResumeAgentPayload }
  /** End the client’s processes and start it again on the same session with the message. */
  | { readonly topic: 'onex.cmd.agent-runtime.agent-order.v1'; readonly type: 'RESUME_SESSION'; readonly payload: ResumeSessionPayload }
  /** Start a fresh agent on a task. */
  | { readonly topic: 'onex.cmd.agent-runtime.agent-order.v1'; readonly type: 'SPAWN_AGENT'; readonly payload: SpawnAgentPayload }
  /** Shutdown request, SIGTERM after the grace, SIGKILL 5 s later, clean-up. */
  | { readonly topic: 'onex.cmd.agent-runtime.agent-order.v1'; readonly type: 'TERMINATE_AGENT'; readonly payload: TerminateAgentPayload }
  /** Publish the terminal of an agent for a while. A person looks at it. */
  | { readonly topic: 'onex.cmd.agent-runtime.lease-terminal.v1'; readonly type: 'LEASE_TERMINAL'; readonly payload: LeaseTerminalPayload }
  /** A person handles it. */
  | { readonly topic: 'onex.cmd.alerting.control-alerts.v1'; readonly type: 'ACKNOWLEDGE_ALERT'; readonly payload: AcknowledgeAlertPayload }
  /** gascity's notify_operator. */
  | { readonly topic: 'onex.cmd.alerting.control-alerts.v1'; readonly type: 'NOTIFY_OPERATOR'; readonly payload: NotifyOperatorPayload }
  /** A person ends an alert by hand. A later report of the same condition raises a new one. */
  | { readonly topic: 'onex.cmd.alerting.control-alerts.v1'; readonly type: 'RESOLVE_ALERT'; readonly payload: ResolveAlertPayload }
  /** Not delivered for a while. */
  | { readonly topic: 'onex.cmd.alerting.control-alerts.v1'; readonly type: 'SILENCE_ALERTS'; readonly payload: SilenceAlertsPayload }
  /** Sends a test message to a channel. */
  | { readonly topic: 'onex.cmd.alerting.control-alerts.v1'; readonly type: 'TEST_CHANNEL'; readonly payload: TestChannelPayload }
  /** What a model answers about a ticket after the rules of triage. */
  | { readonly topic: 'onex.cmd.alerting.notify.v1'; readonly type: 'ASSESS_TICKET'; readonly payload: AssessTicketPayload }
  /** Requests an alert to people, or its resolution. */
  | { readonly topic: 'onex.cmd.alerting.notify.v1'; readonly type: 'NOTIFY'; readonly payload: NotifyPayload }
  /** Puts a document in force; without one, the files are in force again. */
  | { readonly topic: 'onex.cmd.health-evaluator.apply-policy.v1'; readonly type: 'APPLY_POLICY'; readonly payload: ApplyPolicyPayload }
  /** The end of an instance, as its runtime saw it. Only the runtime may write it. */
  | { readonly topic: 'onex.cmd.heartbeat-ingest.control-agent.v1'; readonly type: 'AGENT_EXITED'; readonly payload: AgentExitedPayload }
  /** A person or a configured source reports that an instance is gone, or its host. */
  | { readonly topic: 'onex.cmd.heartbeat-ingest.control-agent.v1'; readonly type: 'CONFIRM_DEATH'; readonly payload: ConfirmDeathPayload }
  /** An external judge files an escalation ticket (gascity). */
  | { readonly topic: 'onex.cmd.heartbeat-ingest.control-agent.v1'; readonly type: 'FILE_TICKET'; readonly payload: FileTicketPayload }
  /** A person exempts an agent from judgement for a while. */
  | { readonly topic: 'onex.cmd.heartbeat-ingest.control-agent.v1'; readonly type: 'HOLD_AGENT'; readonly payload: HoldAgentPayload }
  /** The end of a hold. */
  | { readonly topic: 'onex.cmd.heartbeat-ingest.control-agent.v1'; readonly type: 'RELEASE_AGENT'; readonly payload: ReleaseAgentPayload }
  /** A person closes one of the breakers of an agent. */
  | { readonly topic: 'onex.cmd.heartbeat-ingest.control-agent.v1'; readonly type: 'RESET_BREAKER'; readonly payload: ResetBreakerPayload }
  /** A person has used the terminal of an agent by `vigil attach --write`. What was typed is not recorded: it may be a secret. */
  | { readonly topic: 'onex.cmd.heartbeat-ingest.control-agent.v1'; readonly type: 'TERMINAL_USED'; readonly payload: TerminalUsedPayload }
  /** What an agent or its runtime reports: CODITECT's eight fields, and what makes judgement sharp. JSON or Avro. */
  | { readonly topic: 'onex.cmd.heartbeat-ingest.heartbeat.v1'; readonly type: 'HEARTBEAT'; readonly payload: Heartbeat }
  /** Recovery requests a spawn. */
  | { readonly topic: 'onex.cmd.intervention.admit-step.v1'; readonly type: 'ADMIT_SPAWN'; readonly payload: AdmitSpawnPayload }
  /** A case requests a step. */
  | { readonly topic: 'onex.cmd.intervention.admit-step.v1'; readonly type: 'ADMIT_STEP'; readonly payload: AdmitStepPayload }
  /** The case withdraws its request. */
  | { readonly topic: 'onex.cmd.intervention.admit-step.v1'; readonly type: 'WITHDRAW_STEP'; readonly payload: WithdrawStepPayload }
  /** The end of a dry run. */
  | { readonly topic: 'onex.cmd.intervention.control-fleet.v1'; readonly type: 'DRY_RUN_OFF'; readonly payload: DryRunOffPayload }
  /** Steps only report their effect. */
  | { readonly topic: 'onex.cmd.intervention.control-fleet.v1'; readonly type: 'DRY_RUN_ON'; readonly payload: DryRunOnPayload }
  /** Nothing acts, everything observes. */
  | { readonly topic: 'onex.cmd.intervention.control-fleet.v1'; readonly type: 'HALT_FLEET'; readonly payload: HaltFleetPayload }
  /** A person releases the brake. */
  | { readonly topic: 'onex.cmd.intervention.control-fleet.v1'; readonly type: 'LIFT_BRAKE'; readonly payload: LiftBrakePayload }
  /** The end of a halt. */
  | { readonly topic: 'onex.cmd.intervention.control-fleet.v1'; readonly type: 'RESUME_FLEET'; readonly payload: ResumeFleetPayload }
  /** A person or an orchestrator leaves a task to people: its agents have stalled too often. */
  | { readonly topic: 'onex.cmd.intervention.decide-case.v1'; readonly type: 'BLOCK_TASK'; readonly payload: BlockTaskPayload }
  /** The decision of a person or an orchestrator on a case. */
  | { readonly topic: 'onex.cmd.intervention.decide-case.v1'; readonly type: 'DECIDE_CASE'; readonly payload: DecideCasePayload }
  /** Opens a case by hand. */
  | { readonly topic: 'onex.cmd.intervention.decide-case.v1'; readonly type: 'REQUEST_STEP'; readonly payload: RequestStepPayload }
  /** The answer of a person to a request. */
  | { readonly topic: 'onex.cmd.intervention.handle-request.v1'; readonly type: 'ANSWER_REQUEST'; readonly payload: AnswerRequestPayload }
  /** A coding agent's hook waits for the answer of a person. The same request again names the ingress at which its hook waits now. */
  | { readonly topic: 'onex.cmd.intervention.handle-request.v1'; readonly type: 'OPEN_REQUEST'; readonly payload: OpenRequestPayload }
  /** The hook of a request has ended without an answer. */
  | { readonly topic: 'onex.cmd.intervention.handle-request.v1'; readonly type: 'WITHDRAW_REQUEST'; readonly payload: WithdrawRequestPayload }
  /** Put a fresh agent on this task. */
  | { readonly topic: 'onex.cmd.recovery.recover-task.v1'; readonly type: 'RECOVER_TASK'; readonly payload: RecoverTaskPayload }
  /** The decision of a person on a task in review. */
  | { readonly topic: 'onex.cmd.recovery.review-task.v1'; readonly type: 'REVIEW_TASK'; readonly payload: ReviewTaskPayload }
  /** A record that could not be read or decided, with the reason. Other records continued. */
  | { readonly topic: 'onex.dlq.alerting.dead-letter.v1'; readonly type: 'DEAD_LETTER'; readonly payload: DeadLetter }
  /** A record that could not be read or decided, with the reason. Other records continued. */
  | { readonly topic: 'onex.dlq.health-evaluator.dead-letter.v1'; readonly type: 'DEAD_LETTER'; readonly payload: DeadLetter }
  /** A record that could not be read or decided, with the reason. Other records continued. */
  | { readonly topic: 'onex.dlq.heartbeat-ingest.dead-letter.v1'; readonly type: 'DEAD_LETTER'; readonly payload: DeadLetter }
  /** A record that could not be read or decided, with the reason. Other records continued. */
  | { readonly topic: 'onex.dlq.intervention.dead-letter.v1'; readonly type: 'DEAD_LETTER'; readonly payload: DeadLetter }
  /** A record that could not be read or decided, with the reason. Other records continued. */
  | { readonly topic: 'onex.dlq.projector.dead-letter.v1'; readonly type: 'DEAD_LETTER'; readonly payload: DeadLetter }
  /** A record that could not be read or decided, with the reason. Other records continued. */
  | { readonly topic: 'onex.dlq.recovery.dead-letter.v1'; readonly type: 'DEAD_LETTER'; readonly payload: DeadLetter }
  /** What changed in the last 200 lines of a leased terminal, without control characters and secrets. For operators only. */
  | { readonly topic: 'onex.evt.agent-runtime.agent-terminal.v1'; readonly type: 'TERMINAL_CHANGED'; readonly payload: TerminalChangedPayload }
  /** Why a leased terminal is not published. */
  | { readonly topic: 'onex.evt.agent-runtime.agent-terminal.v1'; readonly type: 'TERMINAL_CLOSED'; readonly payload: TerminalClosedPayload }
  /** The outcome of an order. */
  | { readonly topic: 'onex.evt.agent-runtime.order-receipt.v1'; readonly type: 'ORDER_RECEIPT'; readonly payload: OrderReceiptPayload }
  /** A runtime reports its presence every 30 s. */
  | { readonly topic: 'onex.evt.agent-runtime.runtime-presence.v1'; readonly type: 'RUNTIME_ANNOUNCED'; readonly payload: RuntimeAnnouncedPayload }
  /** The outcome of a spawn. */
  | { readonly topic: 'onex.evt.agent-runtime.spawn-receipt.v1'; readonly type: 'SPAWN_RECEIPT'; readonly payload: SpawnReceiptPayload }
  /** A person handles it. */
  | { readonly topic: 'onex.evt.alerting.alert.v1'; readonly type: 'ALERT_ACKNOWLEDGED'; readonly payload: AlertAcknowledgedPayload }
  /** The outcome of a delivery. */
  | { readonly topic: 'onex.evt.alerting.alert.v1'; readonly type: 'ALERT_DELIVERED'; readonly payload: AlertDeliveredPayload }
  /** One alert for each episode. */
  | { readonly topic: 'onex.evt.alerting.alert.v1'; readonly type: 'ALERT_RAISED'; readonly payload: AlertRaisedPayload }
  /** The alert is resolved. */
  | { readonly topic: 'onex.evt.alerting.alert.v1'; readonly type: 'ALERT_RESOLVED'; readonly payload: AlertResolvedPayload }
  /** In place. */
  | { readonly topic: 'onex.evt.alerting.alert.v1'; readonly type: 'ALERT_UPDATED'; readonly payload: AlertUpdatedPayload }
  /** gascity. */
  | { readonly topic: 'onex.evt.alerting.alert.v1'; readonly type: 'QUEEN_INTERVENTION_REQUESTED'; readonly payload: QueenInterventionRequestedPayload }
  /** Silences. */
  | { readonly topic: 'onex.evt.alerting.alert.v1'; readonly type: 'SILENCE_CHANGED'; readonly payload: SilenceChangedPayload }
  /** A model was asked about a ticket after the rules of triage. */
  | { readonly topic: 'onex.evt.alerting.alert.v1'; readonly type: 'TICKET_ASSESSED'; readonly payload: TicketAssessedPayload }
  /** Triage dismisses this ticket. */
  | { readonly topic: 'onex.evt.alerting.alert.v1'; readonly type: 'TICKET_DISMISSED'; readonly payload: TicketDismissedPayload }
  /** A token was created or renewed. Its key is the id of the token, which a renewal keeps. */
  | { readonly topic: 'onex.evt.gateway.token.v1'; readonly type: 'TOKEN_ISSUED'; readonly payload: TokenIssuedPayload }
  /** A token and its renewals are no longer valid. The key is revoked:<id>, so no renewal replaces it in the compacted topic. */
  | { readonly topic: 'onex.evt.gateway.token.v1'; readonly type: 'TOKEN_REVOKED'; readonly payload: TokenRevokedPayload }
  /** The agent has answered a nudge or a probe. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'AGENT_ANSWERED'; readonly payload: AgentAnsweredPayload }
  /** A person wants to close a breaker that its caller holds. Intervention orders it. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'BREAKER_RESET_ASKED'; readonly payload: BreakerResetAskedPayload }
  /** A circuit breaker has changed its state (CODITECT). */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'CIRCUIT_BREAKER_STATE_CHANGED'; readonly payload: CircuitBreakerStateChangedPayload }
  /** The clock of the agent is right again, or is not measured any more. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'CLOCK_DRIFT_ENDED'; readonly payload: ClockDriftEndedPayload }
  /** For a minute, each heartbeat of the agent was stamped further from the broker's clock than its policy tolerates. Once an episode. It is not a finding. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'CLOCK_DRIFTED'; readonly payload: ClockDriftedPayload }
  /** The evaluator has carried out a command about the agent. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'CONTROL_APPLIED'; readonly payload: ControlAppliedPayload }
  /** The evaluator has not carried out a command about the agent. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'CONTROL_REFUSED'; readonly payload: ControlRefusedPayload }
  /** Two instances with one name report at once. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'DUPLICATE_INSTANCE'; readonly payload: DuplicateInstancePayload }
  /** Why certain signals do not count for a while. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'EXEMPTION_CHANGED'; readonly payload: ExemptionChangedPayload }
  /** CODITECT, with the evidence in words and figures. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'HEALTH_STATE_CHANGED'; readonly payload: HealthStateChangedPayload }
  /** A person's hold or release has taken effect. Its correlation id is the command's. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'HOLD_CHANGED'; readonly payload: HoldChangedPayload }
  /** A person's hold or release has no effect. Its correlation id is the command's. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'HOLD_REFUSED'; readonly payload: HoldRefusedPayload }
  /** A new instance of an agent. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'INSTANCE_STARTED'; readonly payload: InstanceStartedPayload }
  /** An overdue wait has ended, or no longer counts. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'WAIT_ENDED'; readonly payload: WaitEndedPayload }
  /** An agent has waited for a person for longer than its policy's limit. It is not stuck. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'WAIT_OVERDUE'; readonly payload: WaitOverduePayload }
  /** The dated, evidenced finding that an episode needs action (omniclaude's agent.stuck). A lease. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'WARRANT_FILED'; readonly payload: WarrantFiledPayload }
  /** The finding no longer holds. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'WARRANT_LAPSED'; readonly payload: WarrantLapsedPayload }
  /** The finding still holds. It repeats all of the filing, so that it can open a case by itself. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'WARRANT_RENEWED'; readonly payload: WarrantRenewedPayload }
  /** gascity's ticket, whole. */
  | { readonly topic: 'onex.evt.health-evaluator.agent-health.v1'; readonly type: 'WORKER_ESCALATION_TICKET'; readonly payload: WorkerEscalationTicketPayload }
  /** An agent is gone: silent for three intervals (at least 15 s), or ended unexpectedly. */
  | { readonly topic: 'onex.evt.health-evaluator.fleet-presence.v1'; readonly type: 'AGENT_LOST'; readonly payload: AgentLostPayload }
  /** An agent is present. */
  | { readonly topic: 'onex.evt.health-evaluator.fleet-presence.v1'; readonly type: 'AGENT_PRESENT'; readonly payload: AgentPresentPayload }
  /** An agent used tokens that count against a limit of its policy. */
  | { readonly topic: 'onex.evt.health-evaluator.fleet-presence.v1'; readonly type: 'AGENT_SPENT'; readonly payload: AgentSpentPayload }
  /** A whole policy document, by its hash. */
  | { readonly topic: 'onex.evt.health-evaluator.policy.v1'; readonly type: 'POLICY_PUBLISHED'; readonly payload: PolicyPublishedPayload }
  /** A document was applied and has mistakes, so the previous one stays in force. The key is refused:<offset of the command>, so any number of evaluators make one refusal. */
  | { readonly topic: 'onex.evt.health-evaluator.policy.v1'; readonly type: 'POLICY_REFUSED'; readonly payload: PolicyRefusedPayload }
  /** The health of the agent that has the task. */
  | { readonly topic: 'onex.evt.health-evaluator.task-health.v1'; readonly type: 'TASK_HEALTH_CHANGED'; readonly payload: TaskHealthChangedPayload }
  /** The end of an instance, as its runtime saw it. Only the runtime may write it. */
  | { readonly topic: 'onex.evt.heartbeat-ingest.agent-observation.v1'; readonly type: 'AGENT_EXITED'; readonly payload: AgentExitedPayload }
  /** A heartbeat, in the one order of all that judgement reads (AGENT_HEARTBEAT, CODITECT). */
  | { readonly topic: 'onex.evt.heartbeat-ingest.agent-observation.v1'; readonly type: 'AGENT_HEARTBEAT'; readonly payload: AgentHeartbeatPayload }
  /** A person or a configured source reports that an instance is gone, or its host. */
  | { readonly topic: 'onex.evt.heartbeat-ingest.agent-observation.v1'; readonly type: 'CONFIRM_DEATH'; readonly payload: ConfirmDeathPayload }
  /** An external judge files an escalation ticket (gascity). */
  | { readonly topic: 'onex.evt.heartbeat-ingest.agent-observation.v1'; readonly type: 'FILE_TICKET'; readonly payload: FileTicketPayload }
  /** A person exempts an agent from judgement for a while. */
  | { readonly topic: 'onex.evt.heartbeat-ingest.agent-observation.v1'; readonly type: 'HOLD_AGENT'; readonly payload: HoldAgentPayload }
  /** The end of a hold. */
  | { readonly topic: 'onex.evt.heartbeat-ingest.agent-observation.v1'; readonly type: 'RELEASE_AGENT'; readonly payload: ReleaseAgentPayload }
  /** A person closes one of the breakers of an agent. */
  | { readonly topic: 'onex.evt.heartbeat-ingest.agent-observation.v1'; readonly type: 'RESET_BREAKER'; readonly payload: ResetBreakerPayload }
  /** A person has used the terminal of an agent by `vigil attach --write`. What was typed is not recorded: it may be a secret. */
  | { readonly topic: 'onex.evt.heartbeat-ingest.agent-observation.v1'; readonly type: 'TERMINAL_USED'; readonly payload: TerminalUsedPayload }
  /** An agent has written a checkpoint of its task. */
  | { readonly topic: 'onex.evt.heartbeat-ingest.task-checkpoint.v1'; readonly type: 'CHECKPOINT_RECORDED'; readonly payload: CheckpointRecordedPayload }
  /** Between calls. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'AGENT_PAUSED'; readonly payload: AgentPausedPayload }
  /** Continues. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'AGENT_RESUMED'; readonly payload: AgentResumedPayload }
  /** The death is confirmed (CODITECT). */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'AGENT_TERMINATED'; readonly payload: AgentTerminatedPayload }
  /** People should know. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'ALERT_REQUESTED'; readonly payload: AlertRequestedPayload }
  /** The end of a case. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'CASE_CLOSED'; readonly payload: CaseClosedPayload }
  /** A warrant, or a person, has opened a case. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'CASE_OPENED'; readonly payload: CaseOpenedPayload }
  /** The governor admits the step that it has withheld: the case continues. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'CASE_RESUMED'; readonly payload: CaseResumedPayload }
  /** The governor withholds the next step of an open case. The case stays open, and continues with that step when the reason is over. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'CASE_WITHHELD'; readonly payload: CaseWithheldPayload }
  /** A decision that was withheld for too long. It is not executed, and its case is closed. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'DECISION_LAPSED'; readonly payload: DecisionLapsedPayload }
  /** A decision that cannot be taken, and why. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'DECISION_REFUSED'; readonly payload: DecisionRefusedPayload }
  /** A decision was made. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'ESCALATION_DECIDED'; readonly payload: EscalationDecidedPayload }
  /** Orchestrators and people are asked (CODITECT). */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'ESCALATION_TRIGGERED'; readonly payload: EscalationTriggeredPayload }
  /** The agent is asked to hand over. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'HANDOFF_REQUESTED'; readonly payload: HandoffRequestedPayload }
  /** A reminder was sent (CODITECT). */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'NUDGE_SENT'; readonly payload: NudgeSentPayload }
  /** A step that was not done, and why. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'STEP_SKIPPED'; readonly payload: StepSkippedPayload }
  /** The task waits for a person. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'TASK_BLOCKED'; readonly payload: TaskBlockedPayload }
  /** No source has confirmed the death: nothing is spawned. */
  | { readonly topic: 'onex.evt.intervention.agent-intervention.v1'; readonly type: 'TERMINATION_UNCONFIRMED'; readonly payload: TerminationUnconfirmedPayload }
  /** An answer that changes nothing, and the reason. */
  | { readonly topic: 'onex.evt.intervention.agent-request.v1'; readonly type: 'ANSWER_REFUSED'; readonly payload: AnswerRefusedPayload }
  /** The first answer decides. The hook returns it to the client. */
  | { readonly topic: 'onex.evt.intervention.agent-request.v1'; readonly type: 'REQUEST_ANSWERED'; readonly payload: RequestAnsweredPayload }
  /** The deadline has passed without an answer. */
  | { readonly topic: 'onex.evt.intervention.agent-request.v1'; readonly type: 'REQUEST_EXPIRED'; readonly payload: RequestExpiredPayload }
  /** An agent asks people for a permission, or asks them a question. Emitted again when its hook waits at another ingress. */
  | { readonly topic: 'onex.evt.intervention.agent-request.v1'; readonly type: 'REQUEST_OPENED'; readonly payload: RequestOpenedPayload }
  /** The agent has too many open requests, so the hook returns no decision. */
  | { readonly topic: 'onex.evt.intervention.agent-request.v1'; readonly type: 'REQUEST_REFUSED'; readonly payload: RequestRefusedPayload }
  /** The agent waits no longer: its client was answered directly, or the hook, the gateway or the instance has ended. */
  | { readonly topic: 'onex.evt.intervention.agent-request.v1'; readonly type: 'REQUEST_WITHDRAWN'; readonly payload: RequestWithdrawnPayload }
  /** Too many agents were lost at once. No destructive step is admitted until they are back or a person lifts the brake. */
  | { readonly topic: 'onex.evt.intervention.fleet-governance.v1'; readonly type: 'BRAKE_ENGAGED'; readonly payload: BrakeEngagedPayload }
  /** The brake is off. */
  | { readonly topic: 'onex.evt.intervention.fleet-governance.v1'; readonly type: 'BRAKE_RELEASED'; readonly payload: BrakeReleasedPayload }
  /** Steps only report their effect, or act again. */
  | { readonly topic: 'onex.evt.intervention.fleet-governance.v1'; readonly type: 'DRY_RUN_CHANGED'; readonly payload: DryRunChangedPayload }
  /** Nothing acts. */
  | { readonly topic: 'onex.evt.intervention.fleet-governance.v1'; readonly type: 'FLEET_HALTED'; readonly payload: FleetHaltedPayload }
  /** Acting again. */
  | { readonly topic: 'onex.evt.intervention.fleet-governance.v1'; readonly type: 'FLEET_RESUMED'; readonly payload: FleetResumedPayload }
  /** The governor admits a spawn and names the runtime. */
  | { readonly topic: 'onex.evt.intervention.spawn-ruling.v1'; readonly type: 'SPAWN_ADMITTED'; readonly payload: SpawnAdmittedPayload }
  /** The governor withholds a spawn. */
  | { readonly topic: 'onex.evt.intervention.spawn-ruling.v1'; readonly type: 'SPAWN_WITHHELD'; readonly payload: SpawnWithheldPayload }
  /** Calls are allowed again. */
  | { readonly topic: 'onex.evt.intervention.spending.v1'; readonly type: 'SPENDING_LIMIT_LIFTED'; readonly payload: SpendingLimitLiftedPayload }
  /** An agent, a task or a day has reached a limit of its policy, so the next calls are refused. */
  | { readonly topic: 'onex.evt.intervention.spending.v1'; readonly type: 'SPENDING_LIMIT_REACHED'; readonly payload: SpendingLimitReachedPayload }
  /** The governor admits a step. */
  | { readonly topic: 'onex.evt.intervention.step-ruling.v1'; readonly type: 'STEP_ADMITTED'; readonly payload: StepAdmittedPayload }
  /** The governor withholds a step. */
  | { readonly topic: 'onex.evt.intervention.step-ruling.v1'; readonly type: 'STEP_WITHHELD'; readonly payload: StepWithheldPayload }
  /** omniclaude's event for dashboards, flat. */
  | { readonly topic: 'onex.evt.omniclaude.agent-healthcheck.v1'; readonly type: 'AGENT_HEALTHCHECK'; readonly payload: AgentHealthcheck }
  /** A circuit breaker has changed its state (CODITECT). */
  | { readonly topic: 'onex.evt.recovery.task-recovery.v1'; readonly type: 'CIRCUIT_BREAKER_STATE_CHANGED'; readonly payload: CircuitBreakerStateChangedPayload }
  /** Stable for the probation. */
  | { readonly topic: 'onex.evt.recovery.task-recovery.v1'; readonly type: 'PROBATION_PASSED'; readonly payload: ProbationPassedPayload }
  /** The first heartbeat of the attempt (CODITECT). */
  | { readonly topic: 'onex.evt.recovery.task-recovery.v1'; readonly type: 'RECOVERY_COMPLETED'; readonly payload: RecoveryCompletedPayload }
  /** CODITECT. */
  | { readonly topic: 'onex.evt.recovery.task-recovery.v1'; readonly type: 'RECOVERY_FAILED'; readonly payload: RecoveryFailedPayload }
  /** CODITECT. */
  | { readonly topic: 'onex.evt.recovery.task-recovery.v1'; readonly type: 'RECOVERY_INITIATED'; readonly payload: RecoveryInitiatedPayload }
  /** A person requested a recovery of this task, and no recovery follows. A recovery in progress continues. */
  | { readonly topic: 'onex.evt.recovery.task-recovery.v1'; readonly type: 'RECOVERY_REFUSED'; readonly payload: RecoveryRefusedPayload }
  /** A fresh agent is needed, and the governor has withheld its spawn repeatedly: no runtime has room, or the fleet is braked or halted. Emitted once while this lasts; the request stays. */
  | { readonly topic: 'onex.evt.recovery.task-recovery.v1'; readonly type: 'RECOVERY_WAITING'; readonly payload: RecoveryWaitingPayload }
  /** A person has decided. */
  | { readonly topic: 'onex.evt.recovery.task-recovery.v1'; readonly type: 'REVIEW_DECIDED'; readonly payload: ReviewDecidedPayload }
  /** The case takes no further step by itself. */
  | { readonly topic: 'onex.evt.recovery.task-recovery.v1'; readonly type: 'REVIEW_REQUIRED'; readonly payload: ReviewRequiredPayload }
  /** No runtime has a template for the task. The request continues when a runtime announces a matching one. */
  | { readonly topic: 'onex.evt.recovery.task-recovery.v1'; readonly type: 'SPAWN_IMPOSSIBLE'; readonly payload: SpawnImpossiblePayload }
  /** Recovery releases this task. */
  | { readonly topic: 'onex.evt.recovery.task-recovery.v1'; readonly type: 'TASK_RELEASED'; readonly payload: TaskReleasedPayload }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.alerting-agent.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.alerting-fleet.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.alerting-groups.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.alerting-task.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.alerting.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.health-evaluator.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.heartbeat-ingest.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.intervention-cases.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.intervention-governor.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.intervention-requests.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.intervention-spending.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
  /** State and input positions of a processor, in the runner's own bytes. */
  | { readonly topic: 'onex.snapshot.recovery.state.v1'; readonly type: 'SNAPSHOT'; readonly payload: Snapshot }
;
