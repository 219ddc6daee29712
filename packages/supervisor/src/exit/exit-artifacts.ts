import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { blockedLine, type CheckpointRef, frictionFile, frictionText, type ToolCall, ticketName } from '@vigil/events';
import {
  type DispatchEvent,
  dispatchLine,
  type KnownState,
  type Remains,
  recoveryYaml,
  stallDetected,
  stallReasonOf,
  utc,
} from '../adapters/omniclaude.ts';
import type { AgentSpec } from '../agent/agent-spec.ts';
import type { GatewayDeps } from '../deps.ts';
import type { SpawnOrder, Terminate } from '../orders/order.ts';
import { checkName } from '../state/lock.ts';
import { type StateFiles, stateFilesOf } from './state-files.ts';

const dayOf = (at: number): string => utc(at).slice(0, 10);
const logOf = (folder: string, at: number): string => join(folder, `${dayOf(at)}.ndjson`);

/** On the log of its day. @throws errors of the file system */
const logLine = (folder: string, line: string, at: number): void => {
  mkdirSync(folder, { recursive: true });
  appendFileSync(logOf(folder, at), line);
};

const logDispatch = (folder: string, event: DispatchEvent, at: number): void =>
  logLine(folder, dispatchLine(event, at), at);

const compact = (at: number): string => utc(at).replace(/[-:Z]/g, '');

/** An agent that commits all of its folder does not commit these files. A file that is there already stays. */
const keepOutOfGit = (folder: string): void => {
  const path = join(folder, '.gitignore');
  if (!existsSync(path)) writeFileSync(path, '*\n');
};

/**
 * Writes the recovery file below `folder` atomically, and returns its reference, as the successor of the agent's own newest
 * checkpoint.
 * @throws WrongSettings if the task's name would lead out of the folder; errors of the file system
 */
export const saveRecovery = (folder: string, remains: Remains, at: number): CheckpointRef => {
  checkName(remains.taskId);
  const path = join(folder, remains.taskId, `recovery-${compact(at)}.yaml`);
  const text = recoveryYaml(remains, at);
  // It has output of the agent, which may hold a secret.
  mkdirSync(join(folder, remains.taskId), { recursive: true, mode: 0o700 });
  keepOutOfGit(folder);
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
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

export type ExitArtifactDeps = Pick<GatewayDeps, 'gateway' | 'clock' | 'logger'>;

/** An end after which the task is to be continued. */
export type Unfinished = {
  readonly order: Terminate | null;
  /** the end as a sentence */
  readonly details: string;
  /** the agent's own newest checkpoint */
  readonly checkpoint: CheckpointRef | null;
  /** what was saved before its end; null: nothing, or it was not ordered to end */
  readonly saved: CheckpointRef | null;
  readonly known: KnownState;
  /** no attempt at the task is left after this one */
  readonly isLast: boolean;
};

/** The last signs of an agent that is to be ended, epoch milliseconds; null: there was none. */
export type LastSigns = {
  readonly call: ToolCall | null;
  readonly activityAt: number | null;
  /** no attempt at the task is left after this one */
  readonly isLast: boolean;
};

const orLogged = <T>(deps: ExitArtifactDeps, what: string, work: () => T): T | null => {
  try {
    return work();
  } catch (error) {
    deps.logger(what, { error: String(error) });
    return null;
  }
};

/** Logs the stall for which an agent is ordered to end, before its end. */
export const logStall = (
  deps: ExitArtifactDeps,
  spec: AgentSpec,
  { dispatchLog }: StateFiles,
  { payload }: Terminate,
  last: LastSigns,
): void => {
  const { taskId, agentId, attempt, maxAttempts } = spec;
  if (dispatchLog === null || taskId === null) return;
  const at = deps.clock.now();
  const since = last.call?.ended_at ?? last.call?.started_at ?? last.activityAt ?? at;
  const event = stallDetected({
    ...{ taskId, agentId, maxAttempts, attempt: attempt + 1, lastCall: last.call, idleMs: Math.max(0, at - since) },
    stallReason: stallReasonOf(payload.reason, payload.axes),
    isLast: last.isLast,
  });
  orLogged(deps, 'the dispatch log is not written', () => logDispatch(dispatchLog, event, at));
};

/** What is saved of an agent before its end, or after an end that nothing announced. */
export type Snapshot = {
  readonly reason: string;
  readonly axes: readonly string[];
  readonly checkpoint: CheckpointRef | null;
  readonly known: KnownState;
};

/** Writes the recovery file of an agent; null: its files name no folder, or it cannot be written. */
const saveState = (
  deps: ExitArtifactDeps,
  { taskId, attempt }: AgentSpec,
  folder: string | null,
  { reason, axes, checkpoint, known }: Snapshot,
): CheckpointRef | null => {
  if (folder === null || taskId === null) return null;
  const remains = { taskId, attempt: attempt + 1, checkpoint, stallReason: stallReasonOf(reason, axes), known };
  return orLogged(deps, 'the recovery file is not written', () => saveRecovery(folder, remains, deps.clock.now()));
};

/** Before an ordered end: what a replacement needs is on the disk before anything can go wrong with the end. */
export const saveBeforeEnd = (
  deps: ExitArtifactDeps,
  spec: AgentSpec,
  { recovery, partialState }: StateFiles,
  snapshot: Snapshot,
): CheckpointRef | null => saveState(deps, spec, recovery ?? partialState, snapshot);

/**
 * The checkpoint to continue from. A checkpoint that the agent saved after the file was written is newer. A file of
 * `partial_state` counts only where it continues a checkpoint of the agent: it must not hide an invalid one, or that there is none.
 */
const checkpointOf = (
  own: CheckpointRef | null,
  saved: CheckpointRef | null,
  { recovery, partialState }: StateFiles,
  roots: readonly string[],
): CheckpointRef | null => {
  if (saved === null) return own;
  const isUsable = own !== null && own.valid !== false;
  if (isUsable && own.checkpointId !== saved.parentId) return own;
  if (recovery !== null) return saved;
  const isReadable = partialState !== null && roots.some((root) => isBelow(root, partialState));
  return isUsable && isReadable ? saved : own;
};

/** Checkpoints are read below the roots only. */
const isBelow = (root: string, path: string): boolean => !relative(resolve(root), path).startsWith('..');

/** Writes the requested files of an unfinished agent. Returns the checkpoint to continue from. */
export const writeExitArtifacts = (
  deps: ExitArtifactDeps,
  spec: AgentSpec,
  files: StateFiles,
  end: Unfinished,
): CheckpointRef | null => {
  const { taskId, agentId } = spec;
  const { recovery, dispatchLog } = files;
  if (taskId === null) return end.checkpoint;
  const at = deps.clock.now();
  if (dispatchLog !== null && end.order !== null) {
    const event = { event: 'agent_killed', ticket_id: taskId, agent_id: agentId } as const;
    orLogged(deps, 'the dispatch log is not written', () => logDispatch(dispatchLog, event, at));
  }
  const { reason, axes } = end.order?.payload ?? { reason: end.details, axes: [] };
  const saved = end.saved ?? saveState(deps, spec, recovery, { ...end, reason, axes });
  const checkpoint = checkpointOf(end.checkpoint, saved, files, spec.checkpointRoots);
  if (end.isLast && end.order !== null && axes.length > 0)
    orLogged(deps, 'the friction event is not written', () => escalate(spec, taskId, files, checkpoint, at));
  return checkpoint;
};

/** As the files of the agent name it: below its folder. */
const namedFrom = (cwd: string, path: string): string => {
  const below = relative(resolve(cwd), path);
  return below.startsWith('..') ? path : below;
};

const pathOf = (cwd: string, uri: string | null): string => {
  if (uri === null) return 'none';
  return uri.startsWith('file:///') ? namedFrom(cwd, fileURLToPath(uri)) : uri;
};

/**
 * omniclaude's last step for a task whose attempts are used up: the friction event and its line. People write notes
 * into a friction event, so an existing one stays. @throws errors of the file system
 */
const escalate = (
  { cwd, attempt, maxAttempts: limit }: AgentSpec,
  ticket: string,
  { dispatchLog, friction }: StateFiles,
  checkpoint: CheckpointRef | null,
  at: number,
): void => {
  if (friction === null || dispatchLog === null) return;
  const attempts = attempt + 1;
  const file = join(friction, frictionFile(dayOf(at), ticketName(ticket)));
  const log = namedFrom(cwd, logOf(dispatchLog, at));
  const facts = { ticket, attempts, limit, reason: '', log, checkpoint: pathOf(cwd, checkpoint?.uri ?? null) };
  mkdirSync(friction, { recursive: true });
  if (!existsSync(file)) writeFileSync(file, frictionText(facts), { flag: 'wx' });
  logLine(dispatchLog, blockedLine({ utc: utc(at), ticket, attempts, friction: namedFrom(cwd, file) }), at);
};

/** A fresh agent has been put on the task. */
export const logRedispatch = async (
  deps: ExitArtifactDeps,
  spec: AgentSpec,
  { payload }: SpawnOrder,
): Promise<void> => {
  const { dispatchLog } = await stateFilesOf(deps, spec);
  if (dispatchLog === null || payload.taskId === null) return;
  const event = {
    event: 'redispatch',
    ticket_id: payload.taskId,
    redispatch_attempt: payload.attempt,
    remaining_tasks: payload.remainingWork,
  } as const;
  orLogged(deps, 'the dispatch log is not written', () => logDispatch(dispatchLog, event, deps.clock.now()));
};
