import { type BreakerState, Topic } from '@vigil/events';
import { AGENT_BREAKERS, type AgentBreaker, type Tripped, trippedAt } from '../history/calls/breakers.ts';
import { type Announcement, type AnnouncementContext, announcement, chain } from './events.ts';

const MORE_THAN = 3;
const NOTHING: readonly Announcement[] = [];

/** Announces a new instance. */
export const instanceStarted = (context: AnnouncementContext): readonly Announcement[] => {
  const { history, previousInstanceId, announced, instanceNumber } = context.state;
  if (announced.instanceNumber === instanceNumber) return NOTHING;
  const { runtimeId, attempt, maxAttempts } = history.identity;
  const payload = { episodeId: null, previousInstanceId, runtimeId, attempt, maxAttempts };
  return [announcement(context, 'INSTANCE_STARTED', payload)];
};

/** Announces more than three records of an older instance in a minute: two processes run under one name. */
export const duplicateInstance = (context: AnnouncementContext): readonly Announcement[] => {
  const { state } = context;
  const { stragglers } = state;
  if (stragglers === null || stragglers.announced || stragglers.count <= MORE_THAN) return NOTHING;
  return [
    {
      topic: Topic.agentHealth,
      type: 'DUPLICATE_INSTANCE',
      key: state.agentId,
      ...chain(context),
      payload: {
        agentId: state.agentId,
        instanceId: state.history.identity.instanceId ?? '',
        otherInstanceId: stragglers.instanceId,
        count: stragglers.count,
      },
    },
  ];
};

/** Announces the agent's answers since the last announcement. */
export const answered = (context: AnnouncementContext): readonly Announcement[] => {
  const { answers } = context.state;
  return answers.length === 0 ? NOTHING : answers.map((answer) => announcement(context, 'AGENT_ANSWERED', answer));
};

/**
 * Announces each breaker whose state differs from the last announced one. After the agent's end, or if it is excluded,
 * all are closed.
 */
export const breakersChanged = (context: AnnouncementContext): readonly Announcement[] => {
  const { state, judgement } = context;
  const over = state.history.end !== null || state.excluded;
  let emitted = NOTHING;
  for (const name of AGENT_BREAKERS) {
    const tripped = over ? null : trippedAt(state.history.breakers, name, judgement.at.now);
    const from = state.announced.breakers[name]?.state ?? 'CLOSED';
    if (from !== (tripped?.state ?? 'CLOSED')) emitted = [...emitted, changed(context, name, from, tripped)];
  }
  return emitted;
};

/** The event names the task under which the breaker opened, so that a task with an open breaker also gets the close. */
const changed = (
  context: AnnouncementContext,
  name: AgentBreaker,
  from: BreakerState,
  tripped: Tripped | null,
): Announcement => {
  const { state } = context;
  const announced = state.announced.breakers[name];
  return {
    topic: Topic.agentHealth,
    type: 'CIRCUIT_BREAKER_STATE_CHANGED',
    key: state.agentId,
    ...chain(context),
    payload: {
      name,
      from,
      to: tripped?.state ?? 'CLOSED',
      agentId: state.agentId,
      taskId: announced ? announced.taskId : state.history.identity.taskId,
      failures: tripped?.failures ?? 0,
      nextAttemptAt: tripped?.nextAttemptAt ?? null,
    },
  };
};

/** Requests for a close of breakers that the agent holds itself. Only the agent can close them. */
export const resetsAsked = (context: AnnouncementContext): readonly Announcement[] => {
  const { resets, history } = context.state;
  return resets.map(({ correlationId, ...reset }) => ({
    ...announcement(context, 'BREAKER_RESET_ASKED', { runtimeId: history.identity.runtimeId, ...reset }),
    correlationId,
  }));
};
