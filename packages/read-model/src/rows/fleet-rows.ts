import type { CheckpointRef, HealthState } from '@vigil/events';

export type RecoveryRow = {
  readonly taskId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly fromCheckpoint: string;
  readonly newAgentId: string;
  readonly deadAgentId: string | null;
  readonly orderId: string;
  readonly runtimeId: string;
  readonly skipped: readonly { readonly checkpointId: string; readonly why: string }[];
  readonly initiatedAt: number;
  readonly completedAt: number | null;
  readonly probationPassedAt: number | null;
  readonly failedAt: number | null;
  readonly failedReason: string | null;
  readonly reviewAt: number | null;
  readonly releasedAt: number | null;
  readonly releasedWhy: string | null;
  /** how its agent has ended; null: no end was reported */
  readonly endReason: string | null;
};

export type TaskRow = {
  readonly taskId: string;
  readonly agentId: string | null;
  readonly state: HealthState | null;
  readonly hold: string | null;
  readonly attempt: number | null;
  readonly endReason: string | null;
  /** the last of task-recovery's events, such as REVIEW_REQUIRED */
  readonly recovery: string | null;
  readonly recoveryAt: number | null;
  readonly recoveryReason: string | null;
  readonly checkpoints: number;
  readonly lastCheckpoint: string | null;
};

export type CheckpointRow = Omit<CheckpointRef, 'createdAt'> & {
  readonly taskId: string;
  readonly agentId: string;
  readonly createdAt: number | null;
  readonly recordedAt: number;
};

export type AlertRow = {
  readonly alertId: string;
  readonly alertKey: string | null;
  readonly route: string | null;
  readonly severity: string | null;
  readonly title: string | null;
  readonly text: string | null;
  readonly agentId: string | null;
  readonly taskId: string | null;
  readonly caseId: string | null;
  readonly options: readonly string[];
  readonly deadlineAt: number | null;
  readonly updatedAt: number | null;
  readonly raisedAt: number | null;
  readonly acknowledgedAt: number | null;
  readonly acknowledgedBy: string | null;
  readonly resolvedAt: number | null;
  readonly deliveries: readonly { readonly sink: string; readonly ok: boolean; readonly detail: string | null }[];
};

export type RuntimeRow = {
  readonly runtimeId: string;
  readonly host: string;
  readonly capacity: number;
  readonly agents: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly announcedAt: number;
};

export type OrderRow = {
  readonly orderId: string;
  readonly kind: string;
  readonly agentId: string;
  readonly instanceId: string | null;
  readonly runtimeId: string;
  readonly caseId: string | null;
  readonly taskId: string | null;
  readonly number: number;
  readonly ttlMs: number;
  readonly issuedAt: number;
  readonly receipts: readonly { readonly outcome: string; readonly why: string | null; readonly at: number }[];
};

export type FleetRow = {
  readonly halted: boolean;
  readonly haltBy: string | null;
  readonly haltWhy: string | null;
  readonly haltAt: number | null;
  readonly braked: boolean;
  readonly brakeScope: string | null;
  readonly brakeAgents: readonly string[];
  readonly brakeWhy: string | null;
  readonly brakeAt: number | null;
  readonly dryRun: boolean;
  readonly dryRunBy: string | null;
  readonly dryRunWhy: string | null;
};

export type DeadLetterRow = {
  readonly eventId: string;
  readonly service: string;
  readonly originalTopic: string;
  readonly originalPartition: number;
  readonly originalOffset: number;
  readonly originalKey: string | null;
  /** the first 2 KiB, for reading: bytes outside ASCII as \\ooo */
  readonly preview: string | null;
  readonly truncated: boolean;
  readonly reason: string;
  readonly errorType: string;
  readonly failedAt: number | null;
};

/** A policy in force, or `assign.yaml`: which agent gets which. */
export type PolicyRow = {
  readonly name: string;
  readonly hash: string;
  /** null: not reported */
  readonly origin: 'preset' | 'file' | 'applied' | 'UNKNOWN' | null;
  readonly publishedBy: string;
  readonly publishedAt: number;
  /** of the command that applied it */
  readonly why: string | null;
  /** agents that are judged by it, as last reported; those of an older document count by its name */
  readonly agents: number;
};

/** A document that was applied and not taken. */
export type PolicyRefusalRow = {
  readonly refusalId: string;
  /** the command that requested it */
  readonly commandId: string | null;
  readonly name: string;
  readonly hash: string | null;
  readonly refusedBy: string;
  readonly why: string;
  readonly mistakes: readonly string[];
  readonly refusedAt: number;
};
