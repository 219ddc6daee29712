import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckpointRef, SkippedCheckpoint, SpawnReceiptPayload, WorkItem } from '@vigil/events';
import { validate } from '../checkpoint/validate.ts';
import { checkName } from '../state/lock.ts';
import type { Received, SpawnOrder } from './order.ts';

/** The facts about a host that receives a spawn order. */
export type Host = {
  readonly done: Pick<ReadonlyMap<string, SpawnReceiptPayload>, 'get'>;
  readonly agents: readonly { readonly agentId: string; readonly taskId: string | null; readonly attempt: number }[];
  readonly capacity: number;
  readonly hasTemplate: boolean;
  /** the status under which the work source has closed the order's task; null: it is open, or the source has no record */
  readonly closedAs: string | null;
};

export type SpawnAdmission =
  | { readonly kind: 'go' }
  | { readonly kind: 'again'; readonly receipt: SpawnReceiptPayload }
  | { readonly kind: 'not_needed' | 'superseded' | 'expired' | 'failed'; readonly why: string };

/** Statuses of work that is over; `br` and `bd`: closed, tombstone. */
const IS_OVER = /^(closed|done|completed?|resolved|cancell?ed|tombstone)$/i;

/** The status under which an item of work is over; null: it is not, or is not known. */
export const closedAs = (work: Pick<WorkItem, 'status'> | null): string | null =>
  work?.status && IS_OVER.test(work.status) ? work.status : null;

/** One task is never worked on twice here, and a name never runs twice. `now` is monotonic. */
export const admitSpawn = ({ order, expiresAt }: Received<SpawnOrder>, host: Host, now: number): SpawnAdmission => {
  const { orderId, agentId, taskId } = order.payload;
  const receipt = host.done.get(orderId);
  if (receipt) return { kind: 'again', receipt };
  if (now > expiresAt)
    return { kind: 'expired', why: `its time to live was over ${Math.round(now - expiresAt)} ms ago` };
  if (taskId === null) return { kind: 'failed', why: 'the order names no task' };
  if (host.closedAs !== null)
    return { kind: 'not_needed', why: `its work source reports ${taskId} as ${host.closedAs}` };
  const other = host.agents.find((agent) => agent.agentId === agentId || agent.taskId === taskId);
  if (other) return { kind: 'superseded', why: `${other.agentId} runs here and works on ${other.taskId}` };
  if (host.agents.length >= host.capacity)
    return { kind: 'failed', why: `all ${host.capacity} places of this runtime are taken` };
  if (!host.hasTemplate) return { kind: 'failed', why: `no template of this runtime fits task ${taskId}` };
  return { kind: 'go' };
};

export type Origin = {
  /** null: from the task's start */
  readonly checkpoint: { readonly id: string; readonly path: string } | null;
  /** newer checkpoints that are invalid here: the order was made from one of these, so it spawns nothing */
  readonly skipped: readonly SkippedCheckpoint[];
};

/** The newest checkpoint that is valid here; the list is newest first. */
export const originOf = async (
  checkpoints: readonly CheckpointRef[],
  roots: readonly string[],
  taskId: string,
): Promise<Origin> => {
  const skipped: SkippedCheckpoint[] = [];
  for (const checkpoint of checkpoints) {
    const validity = await validate(checkpoint, roots, taskId);
    if (validity.valid) return { checkpoint: { id: checkpoint.checkpointId, path: validity.path }, skipped };
    skipped.push({ checkpointId: checkpoint.checkpointId, why: validity.why });
  }
  return { checkpoint: null, skipped };
};

/** A task's name may come from an agent: one with other characters could leave the quotes of the resume line. */
const PLAIN_NAME = /^[\w.:#/-]+$/;

const resumption = (resumeLine: string | null, taskId: string | null): string =>
  resumeLine === null || taskId === null || !PLAIN_NAME.test(taskId)
    ? ''
    : `${resumeLine.replaceAll('{ticket_id}', taskId)}\n`;

/**
 * Writes the order's own text for the new agent, unchanged, and the policy's resume line. Gives the file's path.
 * @throws WrongSettings for a name that would lead elsewhere
 */
export const writeHandover = (dir: string, { payload }: SpawnOrder, resumeLine: string | null): string => {
  checkName(payload.agentId);
  mkdirSync(join(dir, 'handover'), { recursive: true, mode: 0o700 });
  const path = join(dir, 'handover', `${payload.agentId}.md`);
  writeFileSync(path, payload.handover + resumption(resumeLine, payload.taskId));
  return path;
};
