import type { CheckpointRef } from '@vigil/events';
import type { AgentSpec } from '../agent/agent-spec.ts';
import type { GatewayDeps } from '../deps.ts';
import type { SpawnOrder, Terminate } from '../orders/order.ts';
import { type DispatchEvent, logDispatch, stallReasonOf } from './dispatch-log.ts';
import { saveRecovery } from './recovery-file.ts';
import { type StateFiles, stateFilesOf } from './state-files.ts';

export type ExitArtifactDeps = Pick<GatewayDeps, 'gateway' | 'clock' | 'log'>;

/** An end that somebody is to go on from. */
export type Unfinished = {
  readonly order: Terminate | null;
  /** the end in words */
  readonly details: string;
  readonly checkpoint: CheckpointRef | null;
  /** when anything was heard of it last, epoch milliseconds; null: never */
  readonly heardAt: number | null;
};

const orLogged = <T>(world: ExitArtifactDeps, what: string, work: () => T): T | null => {
  try {
    return work();
  } catch (error) {
    world.log(what, { error: String(error) });
    return null;
  }
};

const stalled = (spec: AgentSpec, taskId: string, { order, heardAt }: Unfinished, at: number): DispatchEvent[] => {
  if (order === null) return [];
  const { reason, axes } = order.payload;
  const who = { ticket_id: taskId, agent_id: spec.agentId };
  const stall = {
    event: 'stall_detected',
    ...who,
    stall_reason: stallReasonOf(reason, axes),
    idle_minutes: heardAt === null ? 0 : Math.round((at - heardAt) / 6000) / 10,
    bash_timeout_exemption: false,
    redispatch_attempt: spec.attempt + 1,
    max_redispatches: spec.maxAttempts,
    action: 'kill_and_redispatch',
  } as const;
  return [stall, { event: 'agent_killed', ...who }];
};

/** Writes what was asked for of an unfinished agent; gives the checkpoint to go on from: what is written here, else its own. */
export const leaveBehind = (
  world: ExitArtifactDeps,
  spec: AgentSpec,
  files: StateFiles,
  end: Unfinished,
): CheckpointRef | null => {
  const { taskId, attempt } = spec;
  const { recovery, dispatchLog } = files;
  if (taskId === null) return end.checkpoint;
  const at = world.clock.now();
  const events = stalled(spec, taskId, end, at);
  if (dispatchLog !== null && events.length > 0)
    orLogged(world, 'the dispatch log is not written', () => logDispatch(dispatchLog, events, at));
  if (recovery === null) return end.checkpoint;
  const { reason, axes } = end.order?.payload ?? { reason: end.details, axes: [] };
  const remains = {
    taskId,
    attempt: attempt + 1,
    checkpoint: end.checkpoint,
    stallReason: stallReasonOf(reason, axes),
  };
  return (
    orLogged(world, 'the recovery file is not written', () => saveRecovery(recovery, remains, at)) ?? end.checkpoint
  );
};

/** A fresh agent has been put on the task. */
export const logRedispatch = async (
  world: ExitArtifactDeps,
  spec: AgentSpec,
  { payload }: SpawnOrder,
): Promise<void> => {
  const { dispatchLog } = await stateFilesOf(world, spec);
  if (dispatchLog === null || payload.taskId === null) return;
  const event = {
    event: 'redispatch',
    ticket_id: payload.taskId,
    redispatch_attempt: payload.attempt,
    remaining_tasks: payload.remainingWork,
  } as const;
  orLogged(world, 'the dispatch log is not written', () => logDispatch(dispatchLog, [event], world.clock.now()));
};
