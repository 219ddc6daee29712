import type { Evidence, HealthState, WaitingFor } from '@vigil/events';

/** Instants are epoch milliseconds, on the broker's clock unless a comment states another. */
export type AgentRow = {
  readonly agentId: string;
  readonly state: HealthState;
  readonly stateFrom: HealthState | null;
  readonly since: number | null;
  readonly reason: string | null;
  readonly onsetAt: number | null;
  readonly evidence: readonly Evidence[];
  readonly endReason: string | null;
  readonly exemption: string | null;
  readonly exemptionSuspends: readonly string[];
  readonly exemptionSince: number | null;
  readonly exemptionUntil: number | null;
  readonly episodeId: string | null;
  readonly instanceId: string | null;
  readonly instanceSince: number | null;
  readonly taskId: string | null;
  readonly runtimeId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly attempt: number | null;
  readonly maxAttempts: number | null;
  readonly policyName: string | null;
  readonly policyHash: string | null;
  readonly present: boolean | null;
  readonly presenceSince: number | null;
  readonly host: string | null;
  readonly model: string | null;
  readonly warrantId: string | null;
  readonly warrantOpen: boolean | null;
  readonly warrantPlan: string | null;
  readonly warrantLapsedWhy: string | null;
  readonly lastHeartbeatAt: number | null;
  readonly phase: string | null;
  readonly progress: string | null;
  readonly activity: string | null;
  readonly tokens: number | null;
  readonly errorCount: number | null;
  readonly ingress: string | null;
  readonly intervalMs: number | null;
  /**
   * what it waits for a person for, as its last heartbeat reports it; null: it waits for none, or does not report it
   */
  readonly waitingFor: WaitingFor | null;
  /** the coding agent's client that reports its session, such as claude-code; null: none does */
  readonly client: string | null;
  /** the agent's own clock */
  readonly lastOutputAt: number | null;
  readonly tail: readonly string[];
  /** the errors that the present instance reported last */
  readonly errors: readonly ReportedError[];
  readonly exitAt: number | null;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly exitReason: string | null;
  readonly exitDetails: string | null;
  readonly exitLastOutput: readonly string[];
  /** a person has held it and not released it; it is over at `heldUntil`, which no event reports */
  readonly held: boolean;
  readonly heldUntil: number | null;
  readonly heldBy: string | null;
  readonly heldWhy: string | null;
  readonly duplicateOf: string | null;
  readonly duplicateCount: number | null;
  readonly duplicateAt: number | null;
  /** its open case, and whether that waits for a person's decision */
  readonly caseId: string | null;
  readonly caseWaiting: boolean;
  readonly caseWithheld: Withheld | null;
};

export type ReportedError = {
  readonly at: number;
  readonly count: number;
  readonly errorClass: string | null;
  readonly message: string | null;
};

export type Withheld = { readonly step: string; readonly why: string; readonly detail: string };

export type CaseRow = {
  readonly caseId: string;
  readonly agentId: string;
  readonly instanceId: string | null;
  readonly taskId: string | null;
  readonly episodeId: string | null;
  readonly warrantId: string | null;
  readonly requestedBy: string | null;
  readonly state: HealthState;
  readonly axes: readonly string[];
  readonly planName: string;
  readonly plan: unknown;
  readonly runtimeId: string | null;
  readonly evidence: readonly Evidence[];
  readonly note: string | null;
  readonly openedAt: number;
  readonly policyName: string | null;
  readonly policyHash: string | null;
  readonly step: string | null;
  readonly stepAt: number | null;
  readonly waiting: boolean;
  /** the step that the governor withholds now, and why; null: it withholds none */
  readonly withheld: Withheld | null;
  readonly escalationReason: string | null;
  readonly escalationOptions: readonly string[];
  readonly escalationDeadlineAt: number | null;
  readonly escalationOnTimeout: string | null;
  readonly decision: string | null;
  readonly decisionBy: string | null;
  readonly decisionWhy: string | null;
  readonly decisionAt: number | null;
  readonly closedAt: number | null;
  readonly ending: string | null;
  readonly closedWhy: string | null;
};

/** One line of a story: `payload` is the event's, or a receipt's. */
export type Entry = {
  readonly eventId: string;
  readonly at: number;
  readonly type: string;
  readonly agentId: string | null;
  readonly taskId: string | null;
  readonly caseId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
};

export type CaseStory = CaseRow & { readonly trail: readonly Entry[] };

export type TransitionRow = {
  readonly eventId: string;
  readonly agentId: string;
  readonly instanceId: string | null;
  readonly taskId: string | null;
  readonly episodeId: string | null;
  readonly occurredAt: number;
  readonly stateFrom: HealthState;
  readonly stateTo: HealthState;
  readonly reason: string;
  readonly exemption: string | null;
  readonly endReason: string | null;
  readonly onsetAt: number | null;
  readonly evidence: readonly Evidence[];
  readonly policyName: string | null;
  readonly policyHash: string | null;
};
