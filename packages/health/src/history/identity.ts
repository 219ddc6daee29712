import type { ClientReport } from '@vigil/events';
import type { Heartbeat } from './moment.ts';

/** Whose life it is, as last reported. */
export type Identity = {
  readonly instanceId: string | null;
  readonly taskId: string | null;
  readonly runtimeId: string | null;
  readonly attempt: number | null;
  readonly maxAttempts: number | null;
  readonly labels: Readonly<Record<string, string>>;
  /** it reports events only: its silence between calls means nothing */
  readonly eventDriven: boolean;
  /** the coding agent that runs as this agent; null: none that is known */
  readonly client: ClientReport | null;
  /** the agent that started this one as its sub-agent */
  readonly parentId: string | null;
};

export function identityOf(heartbeat: Heartbeat): Identity {
  return {
    instanceId: heartbeat.instance_id,
    taskId: heartbeat.task_id,
    runtimeId: heartbeat.runtime_id,
    attempt: heartbeat.attempt,
    maxAttempts: heartbeat.max_attempts,
    labels: heartbeat.labels,
    eventDriven: heartbeat.event_driven,
    client: heartbeat.client,
    parentId: heartbeat.parent_agent_id,
  };
}

/** The same object where nothing is new: most heartbeats repeat what is known. */
export function identityAfter(known: Identity, heartbeat: Heartbeat): Identity {
  const runtimeId = heartbeat.runtime_id ?? known.runtimeId;
  const attempt = heartbeat.attempt ?? known.attempt;
  const maxAttempts = heartbeat.max_attempts ?? known.maxAttempts;
  const labels = labelsAfter(known.labels, heartbeat.labels);
  const place = runtimeId === known.runtimeId && labels === known.labels;
  const eventDriven = heartbeat.event_driven;
  const client = clientAfter(known.client, heartbeat.client);
  const parentId = heartbeat.parent_agent_id ?? known.parentId;
  const attempts = attempt === known.attempt && maxAttempts === known.maxAttempts;
  const kind = eventDriven === known.eventDriven && client === known.client && parentId === known.parentId;
  if (place && attempts && kind && heartbeat.task_id === known.taskId) return known;
  const { instanceId } = known;
  return {
    instanceId,
    taskId: heartbeat.task_id,
    runtimeId,
    attempt,
    maxAttempts,
    labels,
    eventDriven,
    client,
    parentId,
  };
}

function clientAfter(known: ClientReport | null, reported: ClientReport | null): ClientReport | null {
  if (reported === null) return known;
  return known?.name === reported.name && known.session_id === reported.session_id ? known : reported;
}

/** Without labels: as they were. */
function labelsAfter(known: Identity['labels'], announced: Identity['labels']): Identity['labels'] {
  let more = 0;
  let same = true;
  for (const name in announced) {
    more += 1;
    same &&= announced[name] === known[name];
  }
  for (const _ in known) more -= 1;
  return (same && more === 0) || isEmpty(announced) ? known : announced;
}

function isEmpty(labels: Identity['labels']): boolean {
  for (const _ in labels) return false;
  return true;
}
