import { Topic } from '@vigil/events';
import { type Announcement, type AnnouncementContext, about, chain } from './events.ts';

const MORE_THAN = 3;
const NOTHING: readonly Announcement[] = [];

/** An instance that has not been announced. */
export function instanceStarted({ state, rules }: AnnouncementContext): Announcement[] {
  if (state.announced.instanceNumber === state.instanceNumber) return [];
  const { runtimeId, attempt, maxAttempts } = state.history.identity;
  return [
    {
      topic: Topic.agentHealth,
      type: 'INSTANCE_STARTED',
      key: state.agentId,
      ...chain(state, rules),
      payload: { ...about(state, null), previousInstanceId: state.previousInstanceId, runtimeId, attempt, maxAttempts },
    },
  ];
}

/** More than three records of an older instance in a minute: two run under one name. */
export function duplicateInstance({ state, rules }: AnnouncementContext): Announcement[] {
  const { stragglers } = state;
  if (stragglers === null || stragglers.announced || stragglers.count <= MORE_THAN) return [];
  return [
    {
      topic: Topic.agentHealth,
      type: 'DUPLICATE_INSTANCE',
      key: state.agentId,
      ...chain(state, rules),
      payload: {
        agentId: state.agentId,
        instanceId: state.history.identity.instanceId ?? '',
        otherInstanceId: stragglers.instanceId,
        count: stragglers.count,
      },
    },
  ];
}

/** What the agent has answered since it was last asked. */
export function answered({ state, rules }: AnnouncementContext): readonly Announcement[] {
  if (state.answers.length === 0) return NOTHING;
  return state.answers.map((answer) => ({
    topic: Topic.agentHealth,
    type: 'AGENT_ANSWERED',
    key: state.agentId,
    ...chain(state, rules),
    payload: { ...about(state, state.announced.episode?.id ?? null), ...answer },
  }));
}
