import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CheckpointRef } from '@vigil/events';
import { stringify } from 'yaml';
import type { AgentSpec } from '../agent/agent-spec.ts';
import type { GatewayDeps } from '../deps.ts';
import type { SpawnOrder, Terminate } from '../orders/order.ts';
import { checkName } from '../state/lock.ts';
import { type StateFiles, stateFilesOf } from './state-files.ts';

/** omniclaude's events, in its own words. Minutes to one decimal. */
type DispatchEvent =
  | {
      readonly event: 'stall_detected';
      readonly ticket_id: string;
      readonly agent_id: string;
      readonly stall_reason: string;
      readonly idle_minutes: number;
      /** an agent whose call may still run is never reported as stalled */
      readonly bash_timeout_exemption: false;
      readonly redispatch_attempt: number;
      readonly max_redispatches: number | null;
      readonly action: 'kill_and_redispatch';
    }
  | { readonly event: 'agent_killed'; readonly ticket_id: string; readonly agent_id: string }
  | {
      readonly event: 'redispatch';
      readonly ticket_id: string;
      readonly redispatch_attempt: number;
      readonly remaining_tasks: readonly string[];
    };

/** One line each, on the log of its day. @throws errors of the file system */
const logDispatch = (folder: string, events: readonly DispatchEvent[], at: number): void => {
  const lines = events.map((event) => `${JSON.stringify({ timestamp_utc: utc(at), ...event })}\n`);
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${utc(at).slice(0, 10)}.ndjson`), lines.join(''));
};

/** One of omniclaude's three reasons; any other as it was given. */
export const stallReasonOf = (reason: string, axes: readonly string[]): string => {
  if (axes.includes('absence')) return 'inactivity';
  if (/context/i.test(reason)) return 'context_overflow';
  return /rate.?limit/i.test(reason) ? 'rate_limit' : reason;
};

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

export type ExitArtifactDeps = Pick<GatewayDeps, 'gateway' | 'clock' | 'logger'>;

/** An end after which the task is to be continued. */
export type Unfinished = {
  readonly order: Terminate | null;
  /** the end as a sentence */
  readonly details: string;
  readonly checkpoint: CheckpointRef | null;
  /** when it last reported or printed anything, epoch milliseconds; null: never */
  readonly lastActivityAt: number | null;
};

const orLogged = <T>(deps: ExitArtifactDeps, what: string, work: () => T): T | null => {
  try {
    return work();
  } catch (error) {
    deps.logger(what, { error: String(error) });
    return null;
  }
};

const stalled = (
  spec: AgentSpec,
  taskId: string,
  { order, lastActivityAt }: Unfinished,
  at: number,
): DispatchEvent[] => {
  if (order === null) return [];
  const { reason, axes } = order.payload;
  const who = { ticket_id: taskId, agent_id: spec.agentId };
  const stall = {
    event: 'stall_detected',
    ...who,
    stall_reason: stallReasonOf(reason, axes),
    idle_minutes: lastActivityAt === null ? 0 : Math.round((at - lastActivityAt) / 6000) / 10,
    bash_timeout_exemption: false,
    redispatch_attempt: spec.attempt + 1,
    max_redispatches: spec.maxAttempts,
    action: 'kill_and_redispatch',
  } as const;
  return [stall, { event: 'agent_killed', ...who }];
};

/**
 * Writes the requested files of an unfinished agent. Returns the checkpoint to continue from: the one written here,
 * else the agent's own.
 */
export const writeExitArtifacts = (
  deps: ExitArtifactDeps,
  spec: AgentSpec,
  files: StateFiles,
  end: Unfinished,
): CheckpointRef | null => {
  const { taskId, attempt } = spec;
  const { recovery, dispatchLog } = files;
  if (taskId === null) return end.checkpoint;
  const at = deps.clock.now();
  const events = stalled(spec, taskId, end, at);
  if (dispatchLog !== null && events.length > 0)
    orLogged(deps, 'the dispatch log is not written', () => logDispatch(dispatchLog, events, at));
  if (recovery === null) return end.checkpoint;
  const { reason, axes } = end.order?.payload ?? { reason: end.details, axes: [] };
  const remains = {
    taskId,
    attempt: attempt + 1,
    checkpoint: end.checkpoint,
    stallReason: stallReasonOf(reason, axes),
  };
  return (
    orLogged(deps, 'the recovery file is not written', () => saveRecovery(recovery, remains, at)) ?? end.checkpoint
  );
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
  orLogged(deps, 'the dispatch log is not written', () => logDispatch(dispatchLog, [event], deps.clock.now()));
};
