import type { CheckpointRow, RecoveryRow, TaskRow } from '@vigil/read-model';
import { NOON } from '../rows.fixture.ts';

/** A task in review after its last attempt. */
export const taskRow = (): TaskRow => ({
  taskId: 'OMN-1234',
  agentId: null,
  state: null,
  hold: null,
  attempt: 3,
  endReason: 'crashed',
  recovery: 'REVIEW_REQUIRED',
  recoveryAt: NOON,
  recoveryReason: '3 of 3 attempts used',
  blockedReason: null,
  blockedAt: null,
  blockedAlertId: null,
  checkpoints: 7,
  lastCheckpoint: 'c-7',
});

export const checkpointRow = (checkpointId: string): CheckpointRow => ({
  checkpointId,
  taskId: 'OMN-1234',
  agentId: 'worker-1',
  parentId: null,
  uri: null,
  sha256: null,
  valid: true,
  invalidReason: null,
  createdAt: NOON,
  writtenAt: NOON,
  recordedAt: NOON,
  completedWork: [],
  remainingWork: [],
});

/** An attempt whose agent has reported. */
export const recoveryRow = (more: Partial<RecoveryRow> = {}): RecoveryRow => ({
  taskId: 'OMN-1234',
  attempt: 1,
  maxAttempts: 3,
  fromCheckpoint: 'task-start',
  newAgentId: 'worker-1-r1',
  deadAgentId: 'worker-1',
  orderId: 'o1',
  runtimeId: 'host-1',
  skipped: [],
  initiatedAt: NOON,
  completedAt: NOON,
  probationPassedAt: null,
  failedAt: null,
  failedReason: null,
  reviewAt: null,
  releasedAt: null,
  releasedWhy: null,
  endReason: null,
  ...more,
});
