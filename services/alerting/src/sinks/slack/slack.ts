import { KIND_SETTINGS, SECRETS } from '@vigil/policy/channels';
import { whatOf } from '../../delivery/message.ts';
import { type Acknowledged, type AlertEvent, isCount, isQuiet, type Kind } from '../../delivery/sink.ts';
import { optionalSecretOf, secretOf } from '../secret.ts';
import { blocksOf, escaped, lineOf } from './blocks.ts';
import { type Client, clientOf, type Thread } from './client.ts';
import { listen } from './presses.ts';

/**
 * A thread an incident: its first message is the alert as it is now, updated in place, and each notification is a
 * reply. Another count of a group is none. The alert's id is in the metadata of the first message, so a new process finds it again.
 */
export const slack: Kind<'slack'> = {
  settings: KIND_SETTINGS.slack,
  open: (name, settings, deps) => {
    const { url, channel, timeout } = settings;
    const base = url.endsWith('/') ? url : `${url}/`;
    const token = secretOf(name, 'token', SECRETS.slack.token, settings, deps);
    const appToken = optionalSecretOf(name, 'app_token', SECRETS.slack.app_token, settings, deps);
    const client = clientOf({ base, token, channel, timeout });
    const threads = threadsOf(client);
    return {
      name,
      deliver: async (alert) => {
        const blocks = await blocksOf(alert, name, appToken === null ? 'link' : 'button', deps);
        await threads.show(alert, { text: lineOf(alert), blocks });
      },
      updatesInPlace: true,
      acknowledge: (event) => threads.note(event, `:raising_hand: acknowledged by ${escaped(event.payload.by)}`),
      run: appToken === null ? null : ({ logger }) => listen({ base, appToken, timeout, client, deps, logger }),
    };
  },
};

type Content = { readonly text: string; readonly blocks: readonly object[] };

/** Threads of open alerts that this process has seen; the oldest is dropped, and found again. */
const MOST_THREADS = 5000;

/** An alert that is acknowledged was raised at most so long ago; else the note is left out. Milliseconds. */
const NOTED_MS = 7 * 86_400_000;

const threadsOf = (client: Client) => {
  const known = new Map<string, Thread>();
  const remember = (alertId: string, thread: Thread): void => {
    known.delete(alertId);
    known.set(alertId, thread);
    const [oldest] = known.keys();
    if (known.size > MOST_THREADS && oldest !== undefined) known.delete(oldest);
  };
  const threadOf = async ({ payload: { alertId, raisedAt }, occurredAt }: AlertEvent): Promise<Thread | null> =>
    known.get(alertId) ?? (await client.find(alertId, raisedAt ?? occurredAt));

  const show = async (alert: AlertEvent, content: Content): Promise<void> => {
    const { eventId } = alert;
    const { alertId } = alert.payload;
    const isOver = whatOf(alert) === 'resolved';
    const thread = await threadOf(alert);
    if (thread?.eventId === eventId && thread.isNotified) return;
    // A person has deleted the message of an alert: nothing is left to resolve.
    if (thread === null && isOver) return;
    if (thread === null) {
      const ts = await client.post(content, { alertId, eventId, isUpdate: false });
      remember(alertId, { ts, eventId, isNotified: true });
      return;
    }
    const { ts } = thread;
    // The update may be repeated, a reply may not: an attempt that seemed to fail may have posted it.
    const isFirst = thread.eventId !== eventId;
    if (isFirst) await client.update(ts, content, { alertId, eventId, isUpdate: true });
    remember(alertId, { ts, eventId, isNotified: false });
    const isNotified = isCount(alert) || (!isFirst && (await client.hasReply(ts, eventId, alert.occurredAt)));
    if (!isNotified) await client.reply(ts, content.text, !isOver && !isQuiet(alert), eventId);
    if (isOver) known.delete(alertId);
    else remember(alertId, { ts, eventId, isNotified: true });
  };
  /** A reply in the thread. A repetition adds another: Slack keeps no key of replies. */
  const note = async ({ payload: { alertId }, occurredAt, eventId }: Acknowledged, text: string): Promise<void> => {
    const thread = known.get(alertId) ?? (await client.find(alertId, occurredAt - NOTED_MS));
    if (thread !== null) await client.reply(thread.ts, text, false, eventId);
  };
  return { show, note };
};
