import type { Alert, Output, Settings } from './alert-state.ts';
import type { Content } from './content.ts';
import { isSilenced, type Open, sendFrom, sinksToSend } from './due.ts';
import { SINK_FAILING, sinksOf } from './routing.ts';

type AlertDraft = Output extends infer D ? (D extends Output ? Pick<D, 'type' | 'payload'> : never) : never;
/** A draft for an alert key, in the chain that its open alert started. */
export const draft = ({ alertKey, correlationId, policy }: Alert, event: AlertDraft): Output => {
  const heading = { topic: 'onex.evt.alerting.alert.v1', key: alertKey, correlationId, policy } as const;
  return { ...heading, ...event } as Output;
};

/** The texts of an end. */
export type Over = { readonly title: string; readonly text: string };

/** The group wait of an alert: 0 for a failing sink, which has no related alerts. */
export const waitOf = ({ route }: Content, { groupWaitMs }: Settings): number =>
  route === SINK_FAILING ? 0 : groupWaitMs;

export const raised = (state: Alert, content: Content, id: string, at: number, settings: Settings): Output => {
  const deliverAt = waitOf(content, settings) === 0 && !isSilenced(state, content, at) ? at : null;
  const sinks = sinksOf(content, settings.routing);
  const payload = { alertKey: state.alertKey, ...content, alertId: id, deliverAt, sinks, raisedAt: at };
  return draft(state, { type: 'ALERT_RAISED', payload });
};

export const changed = (state: Alert, open: Open, now: number, settings: Settings): Output =>
  updated(state, open, now >= sendFrom(state, open, settings.routing) ? now : null, settings);

export const updated = (state: Alert, open: Open, deliverAt: number | null, { routing }: Settings): Output => {
  const { content, alertId, raisedAt } = open;
  const sinks = deliverAt === null ? sinksOf(content, routing) : sinksToSend(open, deliverAt, routing);
  const payload = { alertKey: state.alertKey, ...content, alertId, deliverAt, sinks, raisedAt };
  return draft(state, { type: 'ALERT_UPDATED', payload });
};

/**
 * Every sink that received the beginning receives the end, silenced or not: else the alert stays open there. No other
 * sink does.
 */
export const resolved = (state: Alert, open: Open, { title, text }: Over, now: number): Output => {
  const { agentId, taskId, episodeId, caseId, labels, route, severity } = open.content;
  const about = { agentId, taskId, episodeId, caseId, labels, route, severity };
  const { alertId, raisedAt, sentTo: sinks } = open;
  const deliverAt = open.sentSeverity === null ? null : now;
  const what = { ...about, title, text, alertId, raisedAt, deliverAt, sinks };
  return draft(state, { type: 'ALERT_RESOLVED', payload: { alertKey: state.alertKey, ...what } });
};
