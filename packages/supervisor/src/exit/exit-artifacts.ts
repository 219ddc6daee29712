import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { blockedLine, type CheckpointRef, frictionFile, frictionText, ticketName } from '@vigil/events';
import { type KnownState, type Remains, recoveryYaml, stallReasonOf, utc } from '../adapters/omniclaude.ts';
import type { AgentSpec } from '../agent/agent-spec.ts';
import type { GatewayDeps } from '../deps.ts';
import type { SpawnOrder, Terminate } from '../orders/order.ts';
import { checkName } from '../state/lock.ts';
import { dayOf, logDispatch, logLine, logOf, orLogged } from './dispatch-log.ts';
import { makeBelow, writeIfMissing } from './folder-below.ts';
import { type StateFiles, stateFilesOf } from './state-files.ts';

const compact = (at: number): string => utc(at).replace(/[-:Z]/g, '');

/** An agent that commits all of its folder does not commit these files. */
const keepOutOfGit = (folder: string): void => writeIfMissing(join(folder, '.gitignore'), '*\n');

/**
 * Writes the recovery file below `folder`, which is below `root`, atomically, and returns its reference, as the successor of the agent's own newest
 * checkpoint.
 * @throws WrongSettings if the task's name or a link would lead out of the folder; errors of the file system
 */
export const saveRecovery = (root: string, folder: string, remains: Remains, at: number): CheckpointRef => {
  checkName(remains.taskId);
  const path = join(folder, remains.taskId, `recovery-${compact(at)}.yaml`);
  const text = recoveryYaml(remains, at);
  // It has output of the agent, which may hold a secret.
  makeBelow(root, join(folder, remains.taskId), 0o700);
  keepOutOfGit(folder);
  writeFileSync(`${path}.new`, text, { mode: 0o600, flag: 'wx' });
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
  { folder, root }: { readonly folder: string | null; readonly root: string | null },
  { reason, axes, checkpoint, known }: Snapshot,
  at: number,
): CheckpointRef | null => {
  if (folder === null || taskId === null) return null;
  const remains = { taskId, attempt: attempt + 1, checkpoint, stallReason: stallReasonOf(reason, axes), known };
  return orLogged(deps, 'the recovery file is not written', () => saveRecovery(root ?? folder, folder, remains, at));
};

/** Before an ordered end: what a replacement needs is on the disk before anything can go wrong with the end. */
export const saveBeforeEnd = (
  deps: ExitArtifactDeps,
  spec: AgentSpec,
  { recovery, partialState, root }: StateFiles,
  snapshot: Snapshot,
): CheckpointRef | null =>
  saveState(deps, spec, { folder: recovery ?? partialState, root }, snapshot, deps.clock.now());

/** The checkpoint that the agent saved after the file was written, as an answer to the request for one. Null: none. */
const answerOf = ({ checkpoint, saved }: Unfinished): CheckpointRef | null =>
  saved !== null && checkpoint?.valid !== false && checkpoint?.checkpointId !== saved.parentId ? checkpoint : null;

/** The file of what is known of the agent. With an answer, the one from before the end is written again. */
const savedOf = (
  deps: ExitArtifactDeps,
  spec: AgentSpec,
  { recovery, partialState, root }: StateFiles,
  end: Unfinished,
  snapshot: Snapshot,
): CheckpointRef | null => {
  const { saved } = end;
  if (saved === null) return saveState(deps, spec, { folder: recovery, root }, snapshot, deps.clock.now());
  if (answerOf(end) === null || saved.createdAt === null) return saved;
  return saveState(deps, spec, { folder: recovery ?? partialState, root }, snapshot, saved.createdAt) ?? saved;
};

/**
 * The checkpoint to continue from: the agent's own, beside which a file of `partial_state` stands. A file of `recovery`
 * takes its place, unless the agent has answered with a file of its own.
 */
const checkpointOf = ({ recovery }: StateFiles, end: Unfinished, saved: CheckpointRef | null): CheckpointRef | null => {
  const hasAnswered = answerOf(end)?.uri?.startsWith('file:') === true;
  return saved === null || recovery === null || hasAnswered ? end.checkpoint : saved;
};

/** Writes the requested files of an unfinished agent. Returns the checkpoint to continue from. */
export const writeExitArtifacts = (
  deps: ExitArtifactDeps,
  spec: AgentSpec,
  files: StateFiles,
  end: Unfinished,
): CheckpointRef | null => {
  const { taskId, agentId } = spec;
  if (taskId === null) return end.checkpoint;
  const at = deps.clock.now();
  if (end.order !== null) {
    const event = { event: 'agent_killed', ticket_id: taskId, agent_id: agentId } as const;
    logDispatch(deps, files, event, at);
  }
  const { reason, axes } = end.order?.payload ?? { reason: end.details, axes: [] };
  const saved = savedOf(deps, spec, files, end, { ...end, reason, axes });
  const checkpoint = checkpointOf(files, end, saved);
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
  { dispatchLog, friction, root }: StateFiles,
  checkpoint: CheckpointRef | null,
  at: number,
): void => {
  if (friction === null || dispatchLog === null) return;
  const attempts = attempt + 1;
  const file = join(friction, frictionFile(dayOf(at), ticketName(ticket)));
  const log = namedFrom(cwd, logOf(dispatchLog, at));
  const saved = pathOf(cwd, checkpoint?.uri ?? null);
  // Whether a channel moves the issue in Linear is in alerting's configuration only.
  const ended = { reason: '', isStall: true, isMoved: false };
  const facts = { ticket, attempts, limit, ...ended, log, checkpoint: saved };
  makeBelow(root ?? friction, friction);
  writeIfMissing(file, frictionText(facts));
  logLine(
    root ?? dispatchLog,
    dispatchLog,
    blockedLine({ utc: utc(at), ticket, attempts, friction: namedFrom(cwd, file) }),
    at,
  );
};

/** A fresh agent has been put on the task. */
export const logRedispatch = async (
  deps: ExitArtifactDeps,
  spec: AgentSpec,
  { payload }: SpawnOrder,
): Promise<void> => {
  if (payload.taskId === null) return;
  const files = await stateFilesOf(deps, spec);
  const event = {
    event: 'redispatch',
    ticket_id: payload.taskId,
    redispatch_attempt: payload.attempt,
    remaining_tasks: payload.remainingWork,
  } as const;
  logDispatch(deps, files, event, deps.clock.now());
};
