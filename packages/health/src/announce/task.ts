import { type HealthState, type Hold, Topic } from '@vigil/events';
import type { Announced, KnownAgent } from '../evaluator/state.ts';
import { contextPct } from '../history/usage/context.ts';
import { type Announcement, type AnnouncementContext, chain, evidenceOf, idleMinutes } from './events.ts';

type Task = NonNullable<Announced['task']>;

/**
 * Announces the assignee of a task and its state. A task is left before the next is taken, so that a task never has one
 * agent twice.
 */
export const taskChanged = (context: AnnouncementContext): Announcement[] => {
  const { state, judgement } = context;
  const { task } = state.announced;
  const assignee = assigneeOf(state);
  if (assignee === null) return leftNow(context);
  const same = task !== null && task.taskId === assignee.taskId && task.instanceId === assignee.instanceId;
  const alive = state.history.end === null;
  if (same && alive && task.state === 'TERMINATED')
    return [taskChange(context, task, 'took', 'UNKNOWN', judgement.state)];
  if (same && alive)
    return task.state === judgement.state ? [] : [taskChange(context, task, 'kept', task.state, judgement.state)];
  if (same && task.state === 'TERMINATED') return [];
  if (same) return [taskChange(context, task, 'left', task.state, 'TERMINATED')];
  const left = leftNow(context);
  const took = taskChange(context, assignee, 'took', 'UNKNOWN', alive ? judgement.state : 'HEALTHY');
  return alive ? [...left, took] : [...left, took, taskChange(context, assignee, 'left', 'HEALTHY', 'TERMINATED')];
};

const leftNow = (context: AnnouncementContext): Announcement[] => {
  const { task } = context.state.announced;
  return task === null || task.state === 'TERMINATED'
    ? []
    : [taskChange(context, task, 'left', task.state, task.state)];
};

/**
 * Null without a task, and for a sub-agent, whose task is its parent's. Its own id would not do: an agent may be called
 * as a task, and would then be its assignee.
 */
const assigneeOf = ({ history: { identity } }: KnownAgent): Omit<Task, 'state'> | null =>
  identity.parentId !== null || identity.taskId === null
    ? null
    : { taskId: identity.taskId, instanceId: identity.instanceId };

const taskChange = (
  context: AnnouncementContext,
  task: Omit<Task, 'state'>,
  hold: Hold,
  from: HealthState,
  to: HealthState,
): Announcement => {
  const { state, rules, judgement } = context;
  const { history } = state;
  const ofThisInstance = task.instanceId === history.identity.instanceId;
  return {
    topic: Topic.taskHealth,
    type: 'TASK_HEALTH_CHANGED',
    key: task.taskId,
    ...chain(context),
    payload: {
      taskId: task.taskId,
      agentId: state.agentId,
      instanceId: task.instanceId,
      attempt: ofThisInstance ? history.identity.attempt : null,
      hold,
      from,
      to,
      endReason: ofThisInstance ? (history.end?.reason ?? null) : null,
      ordered: ofThisInstance ? (history.end?.orderId ?? null) !== null : false,
      runtimeId: history.identity.runtimeId,
      verified: history.identity.verified !== null,
      idleMinutes: idleMinutes(history, judgement.at),
      contextUsagePct: contextPct(history.context),
      evidence: ofThisInstance ? evidenceOf(rules, history, judgement) : [],
      emitHealthcheck: rules.policy.recovery.emitHealthcheck,
    },
  };
};
