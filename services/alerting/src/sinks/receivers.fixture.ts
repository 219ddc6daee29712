import { receiver } from './sinks.fixture.ts';

/** An incident of PagerDuty. `isAcknowledged`: it escalates no further. */
export type Incident = {
  readonly dedupKey: string;
  readonly summary: string;
  isOpen: boolean;
  isAcknowledged: boolean;
};

/** The Events API v2 of PagerDuty: an event of an open incident joins it, and any other trigger begins one. */
export const pagerdutyServer = async () => {
  const incidents: Incident[] = [];
  const actions: string[] = [];
  /** events about an incident that is not open, which PagerDuty drops */
  const dropped: string[] = [];
  const server = await receiver(({ body }, response) => {
    const { event_action: action, dedup_key: dedupKey, payload } = JSON.parse(body);
    actions.push(action);
    const open = incidents.find((one) => one.isOpen && one.dedupKey === dedupKey);
    if (action !== 'trigger' && open === undefined) dropped.push(`${action} ${dedupKey}`);
    if (action === 'trigger' && open === undefined)
      incidents.push({ dedupKey, summary: payload.summary, isOpen: true, isAcknowledged: false });
    if (action === 'acknowledge' && open !== undefined) open.isAcknowledged = true;
    if (action === 'resolve' && open !== undefined) open.isOpen = false;
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"success"}');
  });
  return { ...server, incidents, actions, dropped };
};

type Message = { readonly ts: string; readonly thread_ts?: string; readonly text: string; readonly metadata?: unknown };

/** The Web API of Slack with one channel, which keeps its messages. Its address ends with /api/. */
export const slackServer = async () => {
  const messages: Message[] = [];
  const server = await receiver(({ path, body }, response) => {
    const { ts, metadata, ...fields } = Object.fromEntries(new URLSearchParams(body)) as Record<string, string>;
    const written = { ...fields, ...(metadata !== undefined && { metadata: JSON.parse(metadata) }) };
    const answer = (content: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ok: true, ...content }));
    switch (path.replace('/api/', '')) {
      case 'chat.postMessage':
        messages.push({ text: '', ...written, ts: `1700.${messages.length}` });
        return void answer({ ts: messages.at(-1)?.ts });
      case 'chat.update': {
        const at = messages.findIndex((one) => one.ts === ts);
        const known = messages[at];
        if (known !== undefined) messages[at] = { ...known, ...written };
        return void answer({ ts });
      }
      case 'conversations.replies':
        return void answer({ messages: messages.filter(({ thread_ts }) => thread_ts === ts) });
      default: {
        const first = messages.filter(({ thread_ts }) => thread_ts === undefined);
        return void answer({ messages: first.toReversed(), response_metadata: { next_cursor: '' } });
      }
    }
  });
  /** The first message of each thread, as it is now. */
  const threads = () => messages.filter(({ thread_ts }) => thread_ts === undefined).map(({ text }) => text);
  return { ...server, url: `${server.url}/api/`, messages, threads };
};
