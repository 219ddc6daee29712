import type { CheckpointRow, RecoveryRow, TaskRow } from '@vigil/read-model';
import { byName } from '@vigil/read-model/names';
import { taskReason } from '@vigil/read-model/standing';
import { stateText } from '../knowledge.ts';
import { clockTime, orDash, paintState, table, type View } from '../view.ts';

export const readable = (type: string | null): string => orDash(type).toLowerCase().replaceAll('_', ' ');

/** A review and a block are two things for a person: both are named. */
const recoveryText = ({ recovery, blockedReason }: TaskRow): string => {
  if (blockedReason === null) return readable(recovery);
  return recovery === 'REVIEW_REQUIRED' ? `${readable(recovery)}, BLOCKED` : 'BLOCKED';
};

/** `isNow`: the states are the present ones, not those of an earlier time. */
export const tasksTable = (view: View, tasks: readonly TaskRow[], isNow: boolean): string[] =>
  table<TaskRow>(
    view,
    [
      { title: 'TASK', of: ({ taskId }) => taskId },
      { title: 'ASSIGNEE', of: ({ agentId }) => orDash(agentId) },
      {
        title: 'STATE',
        of: ({ state }) => (state === null ? '-' : stateText(state, isNow)),
        paint: (text) => paintState(view, text),
      },
      { title: 'CHECKPOINTS', of: ({ checkpoints, lastCheckpoint }) => `${checkpoints} (${orDash(lastCheckpoint)})` },
      { title: 'RECOVERY', of: recoveryText },
      { title: 'WHY', of: (task) => orDash(taskReason(task)), rest: true },
    ],
    tasks.toSorted((one, other) => byName(one.taskId, other.taskId)),
    'No tasks.',
  );

export const recoveryLine = (view: View, recovery: RecoveryRow): string => {
  const { attempt, maxAttempts, newAgentId, fromCheckpoint, runtimeId } = recovery;
  const what = `attempt ${attempt} of ${maxAttempts}: ${newAgentId} from ${fromCheckpoint} on ${runtimeId}`;
  return `  ${view.paint.dim(clockTime(view, recovery.initiatedAt))}  ${what}: ${becameText(recovery)}`;
};

/** What became of an attempt, the last word first. */
const becameText = (recovery: RecoveryRow): string => {
  if (recovery.failedAt !== null) return `failed: ${orDash(recovery.failedReason)}`;
  if (recovery.reviewAt !== null) return 'in review';
  if (recovery.releasedAt !== null) return `over (${orDash(recovery.releasedWhy)})`;
  if (recovery.probationPassedAt !== null && recovery.endReason === null) return 'probation passed';
  if (recovery.endReason !== null) return `ended: ${recovery.endReason}`;
  return recovery.completedAt !== null ? 'running' : 'no report yet';
};

export const checkpointLine = (
  view: View,
  { checkpointId, agentId, writtenAt, valid, invalidReason }: CheckpointRow,
): string => {
  const validity = valid === null ? '' : valid ? ' (valid)' : ` (invalid: ${orDash(invalidReason)})`;
  return `  ${view.paint.dim(clockTime(view, writtenAt))}  ${checkpointId} by ${agentId}${validity}`;
};

export type Task = TaskRow & { readonly chain: readonly CheckpointRow[]; readonly recoveries: readonly RecoveryRow[] };

const blockedLine = ({ blockedAlertId }: Task, reason: string): string =>
  `  BLOCKED    ${blockedAlertId === null ? 'a person has acknowledged it' : 'it waits for a person'}: ${reason}`;

/** One task: its assignee, its checkpoints, its attempts. */
export const taskLines = (view: View, task: Task, isNow: boolean): string[] => [
  `${view.paint.bold(task.taskId)} ${isNow ? 'is' : 'was'} held by ${orDash(task.agentId)} (${task.state === null ? '-' : stateText(task.state, isNow)})`,
  ...(task.blockedReason === null ? [] : [blockedLine(task, task.blockedReason)]),
  `  recovery   ${readable(task.recovery)}: ${orDash(task.recoveryReason)}`,
  ...(task.chain.length === 0 ? [] : ['Checkpoints']),
  ...task.chain.map((at) => checkpointLine(view, at)),
  ...(task.recoveries.length === 0 ? [] : ['Recoveries']),
  ...task.recoveries.map((recovery) => recoveryLine(view, recovery)),
];
