import type { Alert } from './alert-state.ts';
import { type Content, hasDeadline, questionOf, raisedUrgency } from './content.ts';
import { isRepetition, type Open, type Over, questionWaitOf, sendFrom, sinksToSend } from './due.ts';
import { type Gates, heldUntil } from './gates.ts';
import type { Output, Settings } from './messages.ts';
import { OF_VIGIL, sinksOf } from './routing.ts';

type AlertDraft = Output extends infer D ? (D extends Output ? Pick<D, 'type' | 'payload'> : never) : never;
/** A draft for an alert key, in the chain that its open alert started. */
export const draft = ({ alertKey, correlationId, policy }: Alert, event: AlertDraft): Output => {
  const heading = { topic: 'onex.evt.alerting.alert.v1', key: alertKey, correlationId, policy } as const;
  return { ...heading, ...event } as Output;
};

/** The configuration, and what holds back deliveries now. */
export type Rules = Settings & { readonly gates: Gates };

/**
 * The group wait of an alert: 0 for those of Vigil itself, which have no related alerts, and for a request. Of
 * a question with a deadline it is a moment.
 */
export const waitOf = (content: Content, settings: Settings): number => {
  if (isAtOnce(content)) return 0;
  return hasDeadline(content) ? questionWaitOf(content, settings.groupWaitMs) : groupWaitOf(content, settings);
};

const groupWaitOf = (content: Content, { groupWaitMs }: Settings): number => content.groupWaitMs ?? groupWaitMs;

const isAtOnce = ({ route, requestId }: Content): boolean => OF_VIGIL.has(route) || requestId !== null;

/** How long it waits for another beginning before its end is sent. */
export const endWaitOf = (content: Content, settings: Settings): number =>
  isAtOnce(content) ? 0 : Math.max(groupWaitOf(content, settings), settings.endWaitMs);

/** How often it is repeated, milliseconds. */
export const repeatOf = (content: Content, { repeatMs }: Settings): number => content.repeatMs ?? repeatMs;

export const raised = (state: Alert, content: Content, id: string, at: number, settings: Rules): Output => {
  const deliverAt = waitOf(content, settings) === 0 && at >= heldUntil(settings.gates, content, at) ? at : null;
  const sinks = sinksOf(content, settings.routing);
  const payload = {
    alertKey: state.alertKey,
    ...content,
    alertId: id,
    deliverAt,
    sinks,
    raisedAt: at,
    isPardoned: false,
  };
  return draft(state, { type: 'ALERT_RAISED', payload });
};

/** An alert for no sink: it is on record only. */
export const unsent = (state: Alert, content: Content, id: string, at: number): Output => {
  const delivery = { deliverAt: null, sinks: [], isPardoned: false };
  const payload = { alertKey: state.alertKey, ...content, alertId: id, raisedAt: at, ...delivery };
  return draft(state, { type: 'ALERT_RAISED', payload });
};

export const changed = (state: Alert, open: Open, now: number, settings: Rules): Output =>
  updated(state, open, isDue(open, now, settings) ? now : null, settings);

const isDue = (open: Open, now: number, settings: Rules): boolean =>
  now >= sendFrom({ ...open, freshSince: open.freshSince ?? now }, settings);

/** Another count of a group. The sinks that have its alert show it, and people are sent nothing unless it is worse as well. */
export const counted = (state: Alert, open: Open, now: number, settings: Rules): Output => {
  const { content, raisedAt, sent } = open;
  const isHeld = now < heldUntil(settings.gates, content, raisedAt);
  if (sent === null || isHeld || isDue(open, now, settings)) return changed(state, open, now, settings);
  return quiet(state, open, sent.to, now);
};

/** A repetition is more urgent than what sinks received. */
export const updated = (state: Alert, open: Open, deliverAt: number | null, { routing }: Settings): Output => {
  const { alertId, raisedAt, isPardoned = false } = open;
  const isRepeated = deliverAt !== null && isRepetition(open, deliverAt, routing);
  const urgency = isRepeated ? raisedUrgency(open.content.urgency) : open.content.urgency;
  const content = { ...open.content, urgency };
  const sinks = deliverAt === null ? sinksOf(content, routing) : sinksToSend(open, deliverAt, routing);
  const firstFor = deliverAt === null ? [] : sinks.filter((sink) => !open.sent?.to.includes(sink));
  const delivery = { deliverAt, sinks, firstFor, isQuiet: false, isPardoned };
  const payload = { alertKey: state.alertKey, ...content, alertId, raisedAt, ...delivery };
  return draft(state, { type: 'ALERT_UPDATED', payload });
};

/**
 * A question is answered. Its options go at once from the sinks that have received it, and people are sent nothing. A
 * question that is withheld is left for its delivery.
 */
export const settled = (state: Alert, open: Open, now: number, settings: Rules): Output => {
  const { raisedAt, content, sent } = open;
  const isHeld = questionOf(content) !== null && now < heldUntil(settings.gates, content, raisedAt);
  if (sent === null || isHeld) return changed(state, open, now, settings);
  return quiet(state, open, sent.to, now);
};

const quiet = (state: Alert, open: Open, sinks: readonly string[], now: number): Output => {
  const { alertId, raisedAt, content, isPardoned = false } = open;
  const delivery = { deliverAt: now, sinks, firstFor: [], isQuiet: true, isPardoned };
  return draft(state, {
    type: 'ALERT_UPDATED',
    payload: { alertKey: state.alertKey, ...content, alertId, raisedAt, ...delivery },
  });
};

/**
 * Every sink that received the beginning receives the end, silenced or not: else the alert stays open there. No other
 * sink does.
 */
export const resolved = (state: Alert, open: Open, { title, text }: Over, now: number): Output => {
  const { agentId, taskId, episodeId, caseId, labels, route, severity, urgency } = open.content;
  const about = { agentId, taskId, episodeId, caseId, labels, route, severity, urgency };
  const { alertId, raisedAt, sent } = open;
  const deliverAt = sent === null ? null : now;
  const what = { ...about, title, text, alertId, raisedAt, deliverAt, sinks: sent?.to ?? [] };
  return draft(state, { type: 'ALERT_RESOLVED', payload: { alertKey: state.alertKey, ...what } });
};
