import { type BreakerState, Topic } from '@vigil/events';
import { AGENT_BREAKERS, type AgentBreaker, type Tripped, trippedAt } from '../history/calls/breakers.ts';
import { type Announcement, type AnnouncementContext, about, chain } from './events.ts';

const NOTHING: readonly Announcement[] = [];

/** Each of its breakers whose state differs from the one last announced. After its end, or where it is excluded, all are closed. */
export function breakersChanged(context: AnnouncementContext): readonly Announcement[] {
  const { state, verdict } = context;
  const over = state.history.end !== null || state.excluded;
  let emitted = NOTHING;
  for (const name of AGENT_BREAKERS) {
    const tripped = over ? null : trippedAt(state.history.breakers, name, verdict.at.now);
    const from = state.announced.breakers[name]?.state ?? 'CLOSED';
    if (from !== (tripped?.state ?? 'CLOSED')) emitted = [...emitted, changed(context, name, from, tripped)];
  }
  return emitted;
}

/** Under the task that it opened with, so that what began there ends there. */
function changed(
  { state, rules }: AnnouncementContext,
  name: AgentBreaker,
  from: BreakerState,
  tripped: Tripped | null,
): Announcement {
  const announced = state.announced.breakers[name];
  return {
    topic: Topic.agentHealth,
    type: 'CIRCUIT_BREAKER_STATE_CHANGED',
    key: state.agentId,
    ...chain(state, rules),
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
}

/** What people want closed and its caller holds: only the caller can. */
export function resetsAsked({ state, rules }: AnnouncementContext): readonly Announcement[] {
  return state.resets.map(({ correlationId, ...reset }) => ({
    topic: Topic.agentHealth,
    type: 'BREAKER_RESET_ASKED',
    key: state.agentId,
    ...chain(state, rules),
    correlationId,
    payload: {
      ...about(state, state.announced.episode?.id ?? null),
      runtimeId: state.history.identity.runtimeId,
      ...reset,
    },
  }));
}
