import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CheckpointRef } from '@vigil/events';
import { stringify } from 'yaml';
import { checkName } from '../state/lock.ts';

/** What is left of an agent, for the agent that continues its task. */
export type Remains = {
  readonly taskId: string;
  readonly stallReason: string;
  readonly checkpoint: CheckpointRef | null;
  /** the attempt that continues from here */
  readonly attempt: number;
};

/** `2026-04-02T14:30:00Z` */
export const utc = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
const compact = (at: number): string => utc(at).replace(/[-:Z]/g, '');

/** omniclaude's recovery file, field by field. */
export const recoveryYaml = ({ taskId, stallReason, checkpoint, attempt }: Remains, at: number): string =>
  stringify({
    schema_version: '1.1.0',
    ticket_id: taskId,
    timestamp_utc: utc(at),
    stall_reason: stallReason,
    completed_work: checkpoint?.completedWork ?? [],
    remaining_work: checkpoint?.remainingWork ?? [],
    redispatch_attempt: attempt,
    recovery_action: 'relaunch_fresh_agent',
  });

/**
 * Writes it below `folder` atomically, and returns its reference, as the successor of the agent's own newest
 * checkpoint.
 * @throws WrongSettings if the task's name would lead out of the folder; errors of the file system
 */
export const saveRecovery = (folder: string, remains: Remains, at: number): CheckpointRef => {
  checkName(remains.taskId);
  const path = join(folder, remains.taskId, `recovery-${compact(at)}.yaml`);
  const text = recoveryYaml(remains, at);
  mkdirSync(join(folder, remains.taskId), { recursive: true });
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
  return {
    checkpointId: `recovery-${remains.taskId}-${compact(at)}`,
    parentId: remains.checkpoint?.checkpointId ?? null,
    uri: pathToFileURL(path).href,
    sha256: createHash('sha256').update(text).digest('hex'),
    valid: true,
    invalidReason: null,
    createdAt: at,
    completedWork: remains.checkpoint?.completedWork ?? [],
    remainingWork: remains.checkpoint?.remainingWork ?? [],
  };
};
