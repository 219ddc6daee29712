import type { CheckpointRef } from '@vigil/events';
import type { AgentSpec } from '../agent/agent-spec.ts';
import type { GatewayDeps } from '../deps.ts';
import type { SpawnOrder, Terminate } from '../orders/order.ts';
import { type DispatchEvent, logDispatch, stallReasonOf } from './dispatch-log.ts';
import { saveRecovery } from './recovery-file.ts';
import { type StateFiles, stateFilesOf } from './state-files.ts';

export type ExitArtifactDeps = Pick<GatewayDeps, 'gateway' | 'clock' | 'log'>;

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
    deps.log(what, { error: String(error) });
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
