import { KIND_SETTINGS, SECRETS } from '@vigil/policy/channels';
import {
  cut,
  decisionOf,
  labelOf,
  pageHint,
  plain,
  plainLines,
  resolvedTitle,
  whatOf,
  withItem,
} from '../delivery/message.ts';
import { type AlertEvent, deliveringTo, isQuiet, type Kind, type SinkDeps } from '../delivery/sink.ts';
import { GONE, post, type Remedies } from './http.ts';
import { optionalSecretOf } from './secret.ts';

const REMEDIES: Remedies = {
  ...GONE,
  401: 'give it a token of the server that may write to the topic',
  403: 'give it a token of the server that may write to the topic',
};

/** The server publishes at most this many buttons, and texts of this size, bytes; it makes a file of a longer text. */
const MOST_BUTTONS = 3;
const LONGEST_TITLE = 250;
const LONGEST_TEXT = 1000;

/** One POST of JSON (docs.ntfy.sh/publish). A sequence is one notification on the phone: later messages replace it. */
export const ntfy: Kind<'ntfy'> = {
  settings: KIND_SETTINGS.ntfy,
  open: (name, channel, deps) => {
    const { url, topic, timeout } = channel;
    const token = optionalSecretOf(name, 'token', SECRETS.ntfy.token, channel, deps);
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const deliver = async (alert: AlertEvent): Promise<void> => {
      const body = JSON.stringify({ topic, ...(await notificationOf(alert, name, deps)) });
      await post({ url, headers, body, timeout, remedies: REMEDIES }, deps);
    };
    return { ...deliveringTo(name, deliver), updatesInPlace: true };
  },
};

const notificationOf = async (alert: AlertEvent, name: string, deps: SinkDeps) => {
  const { title, text, alertId } = alert.payload;
  const isOver = whatOf(alert) === 'resolved';
  const actions = await buttonsOf(alert, name, deps);
  return {
    title: cut(plain(isOver ? resolvedTitle(title) : title), LONGEST_TITLE),
    message: withItem(plainLines(text), alert.payload, LONGEST_TEXT),
    sequence_id: alertId,
    priority: priorityOf(alert),
    tags: [isOver ? 'white_check_mark' : 'rotating_light', alert.payload.route],
    click: deps.dashboardUrl,
    ...(actions.length > 0 && { actions }),
  };
};

/** From 1 (no sound) to 5 (repeats until it is seen). */
const priorityOf = (alert: AlertEvent): number => {
  if (whatOf(alert) === 'resolved' || isQuiet(alert)) return 2;
  const { severity, urgency } = alert.payload;
  if (urgency === 'high' || urgency === 'highest') return 5;
  switch (severity) {
    case 'critical':
      return 5;
    case 'warning':
    case 'UNKNOWN':
      return 4;
    case 'info':
      return 3;
  }
};

/** A button posts to the link of one choice, which needs no other token. Several questions are answered on the page. */
const buttonsOf = async (alert: AlertEvent, name: string, deps: SinkDeps) => {
  const decision = await decisionOf(alert, name, deps);
  if (decision === null) return [];
  const hint = pageHint(decision);
  if (hint !== null) return [{ action: 'view', label: hint.link, url: decision.page }];
  return Object.entries(decision.links ?? {})
    .slice(0, MOST_BUTTONS)
    .map(([option, url]) => ({
      action: 'http',
      label: labelOf(option, decision),
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ why: 'by a button of ntfy' }),
      clear: true,
    }));
};
