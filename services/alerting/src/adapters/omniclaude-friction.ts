import path from 'node:path';
import { blockedLine, FOLDERS, frictionFile, frictionText, ticketName } from '@vigil/events';
import type { AlertEvent } from '../delivery/sink.ts';

/** Where omniclaude's files belong, relative to a root; and how a checkpoint below that root is named. */
type FrictionPlace = {
  readonly friction: string;
  readonly dispatchLog: string;
  readonly checkpointPath: (uri: string) => string;
};

/** omniclaude's own folders. The checkpoint's host is not known. */
export const usualPlace: FrictionPlace = { ...FOLDERS, checkpointPath: (uri) => uri };

/** omniclaude's friction event of a task that is Blocked, and its line in the dispatch log. */
export type Friction = {
  readonly path: string;
  readonly text: string;
  readonly log: string;
  readonly line: string;
};

/** An issue's identifier in Linear, which is the task's id. */
export const IDENTIFIER = /^[A-Z][A-Z0-9_]*-\d+$/i;

/** Null: the alert is not about a task that has just become Blocked. `linearChannels`: names of the channels to Linear. */
export const frictionOf = (
  alert: AlertEvent,
  place: FrictionPlace,
  linearChannels: readonly string[],
): Friction | null => {
  if (alert.type === 'ALERT_RESOLVED' || alert.payload.blocked === null) return null;
  const { taskId, agentId, checkpoint, raisedAt, blocked, sinks } = alert.payload;
  const ticket = taskId ?? agentId ?? 'fleet';
  const isMoved = IDENTIFIER.test(taskId ?? '') && sinks.some((one) => linearChannels.includes(one));
  const utc = `${new Date(raisedAt ?? alert.occurredAt).toISOString().slice(0, 19)}Z`;
  const day = utc.slice(0, 10);
  const friction = path.posix.join(place.friction, frictionFile(day, ticketName(ticket)));
  const log = path.posix.join(place.dispatchLog, `${day}.ndjson`);
  const saved = checkpoint === null ? 'none' : place.checkpointPath(checkpoint.uri ?? 'none');
  return {
    path: friction,
    text: frictionText({ ticket, log, checkpoint: saved, ...blocked, isStall: !blocked.endedByItself, isMoved }),
    log,
    line: blockedLine({ utc, ticket, attempts: blocked.attempts, friction }),
  };
};

/** omniclaude's comment on the issue of a task that is Blocked; null: no task is. */
export const blockedComment = (alert: AlertEvent): string | null => {
  if (alert.type === 'ALERT_RESOLVED' || alert.payload.blocked === null) return null;
  const { checkpoint, blocked } = alert.payload;
  const stalled =
    blocked.attempts === null || blocked.endedByItself ? blocked.reason : `agent stalled ${blocked.attempts} times`;
  return `Auto-blocked: ${stalled}. Checkpoint: ${checkpoint?.uri ?? 'none'}. Requires manual investigation.`;
};
