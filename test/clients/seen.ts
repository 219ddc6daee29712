import { type EventOf, Topic, type TopicName } from '@vigil/events';
import type { Stage } from './stage.ts';

type Heartbeat = Extract<EventOf<typeof Topic.agentObservation>, { type: 'AGENT_HEARTBEAT' }>;

/** Vigil's findings and actions about one agent, from its topics. */
export type Seen = {
  /** the states it changed to, in order */
  readonly states: () => readonly string[];
  readonly exemptions: () => readonly string[];
  /** for each change to STUCK: the reason in words */
  readonly reasons: () => readonly string[];
  /** types of the orders about it, in order */
  readonly orders: () => readonly string[];
  /** `nudge delivered` for each answered order */
  readonly receipts: () => readonly string[];
  /** the routes of the alerts that were raised about it */
  readonly alerts: () => readonly string[];
  readonly heartbeats: () => readonly Heartbeat[];
  readonly endReason: () => string | null;
  /** when it first changed to a state, milliseconds. @throws if it never did */
  readonly changedAt: (state: string) => number;
  /** its sub-agents */
  readonly children: () => readonly string[];
};

const versionOf = (event: { readonly epoch: number | null; readonly version: number | null }): number =>
  (event.epoch ?? 0) * 1e6 + (event.version ?? 0);

export const seenOf = ({ received }: Stage, agentId: string): Seen => {
  const about = <T extends TopicName>(topic: T): readonly EventOf<T>[] =>
    received
      .of(topic)
      .filter((event) => 'agentId' in event.payload && event.payload.agentId === agentId)
      .toSorted((a, b) => versionOf(a) - versionOf(b));
  const changes = () =>
    about(Topic.agentHealth).flatMap((event) => (event.type === 'HEALTH_STATE_CHANGED' ? [event.payload] : []));
  return {
    states: () => changes().map(({ to }) => to),
    reasons: () => changes().flatMap(({ to, reason }) => (to === 'STUCK' ? [reason] : [])),
    endReason: () => changes().at(-1)?.endReason ?? null,
    changedAt: (state) => {
      const change = about(Topic.agentHealth).find(
        (event) => event.type === 'HEALTH_STATE_CHANGED' && event.payload.to === state,
      );
      if (change === undefined) throw new Error(`${agentId} was never ${state}: ${changes().map(({ to }) => to)}`);
      return change.occurredAt;
    },
    children: () => [
      ...new Set(
        received
          .of(Topic.agentObservation)
          .flatMap((event) =>
            event.type === 'AGENT_HEARTBEAT' && event.payload.parent_agent_id === agentId
              ? [event.payload.agent_id]
              : [],
          ),
      ),
    ],
    exemptions: () =>
      about(Topic.agentHealth).flatMap((event) =>
        event.type === 'EXEMPTION_CHANGED' && event.payload.to !== null ? [event.payload.to] : [],
      ),
    orders: () => about(Topic.agentOrder).map(({ type }) => type),
    receipts: () => about(Topic.orderReceipt).map(({ payload }) => `${payload.kind} ${payload.outcome}`),
    alerts: () => about(Topic.alert).flatMap((event) => (event.type === 'ALERT_RAISED' ? [event.payload.route] : [])),
    heartbeats: () =>
      received
        .of(Topic.agentObservation)
        .filter((event): event is Heartbeat => event.type === 'AGENT_HEARTBEAT')
        .filter(({ payload }) => payload.agent_id === agentId),
  };
};
