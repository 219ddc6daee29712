import type { ClientReport, Verified } from '@vigil/events';
import type { Heartbeat, Receipt } from './moment.ts';

/** The identity of an instance, as last reported. */
export type Identity = {
  readonly instanceId: string | null;
  readonly taskId: string | null;
  /**
   * mark at which it took its present task, or at which work could first be expected of it; absent: at its start, or it
   * has no task
   */
  readonly assignedAt?: number;
  readonly runtimeId: string | null;
  readonly attempt: number | null;
  readonly maxAttempts: number | null;
  readonly labels: Readonly<Record<string, string>>;
  /** it reports only events, so its silence between calls has no meaning */
  readonly eventDriven: boolean;
  /** the coding agent that runs as this agent; null if none is known */
  readonly client: ClientReport | null;
  /** the agent that started this one as its sub-agent */
  readonly parentId: string | null;
  /** the principal whose token the gateway verified; null: its heartbeats come directly from Kafka */
  readonly verified: Verified | null;
};

export const identityOf = (heartbeat: Heartbeat): Identity => ({
  instanceId: heartbeat.instance_id,
  taskId: heartbeat.task_id,
  runtimeId: heartbeat.runtime_id,
  attempt: heartbeat.attempt,
  maxAttempts: heartbeat.max_attempts,
  labels: heartbeat.labels,
  eventDriven: heartbeat.event_driven,
  client: heartbeat.client,
  parentId: heartbeat.parent_agent_id,
  verified: heartbeat.verified,
});

/** Whether a heartbeat changes nothing, as most do. */
const repeats = (known: Identity, heartbeat: Heartbeat): boolean =>
  heartbeat.task_id === known.taskId &&
  heartbeat.event_driven === known.eventDriven &&
  (heartbeat.runtime_id === known.runtimeId || heartbeat.runtime_id === null) &&
  (heartbeat.attempt === known.attempt || heartbeat.attempt === null) &&
  (heartbeat.max_attempts === known.maxAttempts || heartbeat.max_attempts === null) &&
  (heartbeat.parent_agent_id === known.parentId || heartbeat.parent_agent_id === null) &&
  labelsAfter(known.labels, heartbeat.labels) === known.labels &&
  clientAfter(known.client, heartbeat.client) === known.client &&
  verifiedAfter(known.verified, heartbeat.verified) === known.verified;

/** Returns the same object if nothing is new. */
export const identityAfter = (known: Identity, heartbeat: Heartbeat, receipt: Receipt): Identity => {
  if (repeats(known, heartbeat)) return known;
  const reported = identityOf(heartbeat);
  const assignedAt = assignedAfter(known, reported, receipt);
  return {
    ...reported,
    ...(assignedAt !== undefined && { assignedAt }),
    instanceId: known.instanceId,
    runtimeId: reported.runtimeId ?? known.runtimeId,
    attempt: reported.attempt ?? known.attempt,
    maxAttempts: reported.maxAttempts ?? known.maxAttempts,
    labels: labelsAfter(known.labels, reported.labels),
    client: clientAfter(known.client, reported.client),
    parentId: reported.parentId ?? known.parentId,
    verified: verifiedAfter(known.verified, reported.verified),
  };
};

/** A task that the agent holds from its first heartbeat on counts from its start. */
const assignedAfter = (known: Identity, { taskId }: Identity, { watched, previous }: Receipt): number | undefined => {
  if (taskId === known.taskId) return known.assignedAt;
  return taskId === null || previous === null ? undefined : watched;
};

const clientAfter = (known: ClientReport | null, reported: ClientReport | null): ClientReport | null => {
  if (reported === null) return known;
  return known?.name === reported.name && known.session_id === reported.session_id ? known : reported;
};

/** A verified agent stays verified. */
const verifiedAfter = (known: Verified | null, reported: Verified | null): Verified | null => {
  if (reported === null) return known;
  return known?.kind === reported.kind && known.name === reported.name ? known : reported;
};

/** A heartbeat without labels keeps the previous ones. */
const labelsAfter = (known: Identity['labels'], announced: Identity['labels']): Identity['labels'] => {
  let more = 0;
  let same = true;
  for (const name in announced) {
    more += 1;
    same &&= announced[name] === known[name];
  }
  for (const _ in known) more -= 1;
  return (same && more === 0) || isEmpty(announced) ? known : announced;
};

const isEmpty = (labels: Identity['labels']): boolean => {
  for (const _ in labels) return false;
  return true;
};
