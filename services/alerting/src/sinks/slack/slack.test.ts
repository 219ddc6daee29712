import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyLink } from '@vigil/chassis/decision-link';
import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { expect, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import type { AlertEvent } from '../../delivery/sink.ts';
import {
  alertEvent,
  answeredEvent,
  answeringWith,
  brakeAlert,
  countEvent,
  escalation,
  failureOf,
  LINK_KEY,
  numberedQuestion,
  permissionRequest,
  receiver,
  resolvedEvent,
  severalQuestions,
  sinkDeps,
} from '../sinks.fixture.ts';
import { slack } from './slack.ts';
import { slackWebhook } from './slack-webhook.ts';

const TOKEN = 'xoxb-hunter2';
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

type Message = {
  readonly ts: string;
  readonly thread_ts?: string;
  readonly text: string;
  readonly blocks?: readonly { readonly type: string; readonly elements?: readonly Record<string, unknown>[] }[];
  readonly metadata?: unknown;
  readonly reply_broadcast?: boolean;
};

/** A workspace with one channel that keeps its messages. */
const workspace = async () => {
  const messages: Message[] = [];
  const methods: string[] = [];
  /** Answers of the next calls of a method: refused, or taken although the answer is an error. */
  const failing: { readonly method: string; readonly status: 429 | 503; readonly isTaken: boolean }[] = [];
  const fieldsOf = (body: string) => {
    const fields = Object.fromEntries(new URLSearchParams(body)) as Record<string, string>;
    const parsed = (name: string) => (fields[name] === undefined ? {} : { [name]: JSON.parse(fields[name]) });
    return { ...fields, ...parsed('blocks'), ...parsed('metadata'), ...parsed('reply_broadcast') };
  };
  const server = await receiver(({ path, body }, response) => {
    const method = path.replace('/api/', '');
    methods.push(method);
    const { ts, ...fields } = fieldsOf(body) as unknown as Message;
    const at = failing.findIndex((one) => one.method === method);
    const [failure] = at < 0 ? [] : failing.splice(at, 1);
    if (failure?.isTaken === false) return void response.writeHead(failure.status, { 'retry-after': '1' }).end();
    const answer = (content: object) =>
      response
        .writeHead(failure?.status ?? 200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ok: true, ...content }));
    if (method === 'chat.postMessage') {
      messages.push({ ...fields, ts: `1700.${messages.length}` });
      return void answer({ ts: messages.at(-1)?.ts });
    }
    if (method === 'chat.update') {
      const at = messages.findIndex((one) => one.ts === ts);
      messages[at] = { ...messages[at], ...fields, ts };
      return void answer({ ts });
    }
    if (method === 'conversations.replies') return void answer({ messages });
    const first = messages.filter(({ thread_ts }) => thread_ts === undefined);
    answer({ messages: first.toReversed(), response_metadata: { next_cursor: '' } });
  });
  const env = { SLACK_TOKEN: TOKEN, SLACK_APP_TOKEN: 'xapp-hunter2' };
  const open = (more = {}) =>
    slack.open(
      'ops',
      slack.settings.parse({
        kind: 'slack',
        url: `${server.url}/api/`,
        channel: 'C0123',
        token_env: 'SLACK_TOKEN',
        ...more,
      }),
      { ...sinkDeps, env },
    );
  return { messages, methods, failing, server, open };
};

const next = (event: AlertEvent, eventId: string): AlertEvent => ({ ...event, eventId }) as AlertEvent;
const roots = (messages: readonly Message[]) => messages.filter(({ thread_ts }) => thread_ts === undefined);
const replies = (messages: readonly Message[]) => messages.filter(({ thread_ts }) => thread_ts !== undefined);

test('an incident is one thread: its first message is updated in place, and each notification is a reply', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  const sink = open();
  await sink.deliver(next(alertEvent(), 'e1'));
  await sink.deliver(next(escalation(), 'e2'));
  await sink.deliver(next(resolvedEvent(), 'e3'));
  expect(roots(messages)).toHaveLength(1);
  expect(roots(messages)[0]?.text).toBe(':white_check_mark: Resolved: worker-1 is STUCK');
  expect(replies(messages).map(({ thread_ts }) => thread_ts)).toEqual(['1700.0', '1700.0']);
  expect(replies(messages).map(({ reply_broadcast }) => reply_broadcast)).toEqual([true, false]);
});

test('a restarted process finds the thread, and what was delivered before is not posted again', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  await open().deliver(next(alertEvent(), 'e1'));
  const restarted = open();
  await restarted.deliver(next(alertEvent(), 'e1'));
  expect(messages).toHaveLength(1);
  await restarted.deliver(next(resolvedEvent(), 'e2'));
  expect(roots(messages)).toHaveLength(1);
  expect(replies(messages)).toHaveLength(1);
});

test('the options of an answered question go at once, and the reply about it is in the thread only', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  const sink = open();
  await sink.deliver(next(escalation(), 'e1'));
  expect(JSON.stringify(roots(messages))).toContain('vigil:decide:pardon');
  await sink.deliver(next(answeredEvent(), 'e2'));
  expect(JSON.stringify(roots(messages))).not.toContain('vigil:decide:');
  expect(replies(messages)).toMatchObject([
    { reply_broadcast: false, text: expect.stringContaining('decided by ada') },
  ]);
});

test('another count of a group changes the message, without a reply', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  const sink = open();
  await sink.deliver(next(alertEvent({ route: 'alert_group', title: '10 agents are STUCK or FAILING' }), 'e1'));
  await sink.deliver(next(countEvent(), 'e2'));
  await sink.deliver(next(countEvent(), 'e2'));
  expect(roots(messages)).toMatchObject([{ text: expect.stringContaining('40 agents') }]);
  expect(replies(messages)).toEqual([]);
});

test('a request of an agent has a button for each of its options, with a link that answers it alone', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  await open({ app_token_env: 'SLACK_APP_TOKEN' }).deliver(permissionRequest());
  expect(JSON.stringify(messages)).toContain('Without an answer: the client decides itself.');
  expect(buttonsOf(messages).map(({ action_id }) => action_id)).toEqual(['vigil:decide:allow', 'vigil:decide:deny']);
  expect(await verifyLink(LINK_KEY, String(buttonsOf(messages)[1]?.value), EXAMPLE_TIME)).toMatchObject({
    ...{ kind: 'answer_request', subject: 'r-1', decision: 'deny', deadlineAt: EXAMPLE_TIME + 600_000 },
  });
});

test('the buttons of a question with numbered choices have the words of its choices', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  await open({ app_token_env: 'SLACK_APP_TOKEN' }).deliver(numberedQuestion());
  expect(buttonsOf(messages)).toMatchObject([
    { action_id: 'vigil:decide:1', text: { text: 'Login' } },
    { action_id: 'vigil:decide:2', text: { text: 'Search' } },
  ]);
});

test('several questions have a link to the page, and no buttons', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  await open({ app_token_env: 'SLACK_APP_TOKEN' }).deliver(severalQuestions());
  expect(buttonsOf(messages)).toEqual([]);
  expect(JSON.stringify(messages)).toContain('It has 2 questions: <http://127.0.0.1:7420/#/inbox|answer on the page>.');
});

test('the brake has a link to the page and its command, and no buttons: an operator lifts it', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  await open({ app_token_env: 'SLACK_APP_TOKEN' }).deliver(brakeAlert());
  expect(buttonsOf(messages)).toEqual([]);
  const shown = JSON.stringify(messages);
  expect(shown).toContain('An operator lifts it: <http://127.0.0.1:7420/#/inbox|lift it on the page>.');
  expect(shown).toContain('to be lifted by `vigil brake lift`');
});

test.each([
  ['refuses the update', { method: 'chat.update', status: 429, isTaken: false }],
  ['takes the update, and does not confirm it', { method: 'chat.update', status: 503, isTaken: true }],
  ['refuses the reply', { method: 'chat.postMessage', status: 429, isTaken: false }],
  ['takes the reply, and does not confirm it', { method: 'chat.postMessage', status: 503, isTaken: true }],
] as const)('an update is shown once though Slack %s, four times if it comes to that', async (_, failure) => {
  for (const isRestarted of [false, true]) {
    const { messages, failing, server, open } = await workspace();
    await using _server = server;
    const first = open();
    await first.deliver(next(alertEvent(), 'e1'));
    failing.push(failure, failure, failure, failure);
    for (let tries = 0; tries < 5; tries += 1)
      await failureOf((isRestarted ? open() : first).deliver(next(escalation(), 'e2')));
    expect(replies(messages)).toHaveLength(1);
    expect(roots(messages)).toHaveLength(1);
    expect(roots(messages)[0]?.metadata).toMatchObject({ event_payload: { event_id: 'e2' } });
  }
});

test('the end of an alert whose message is gone posts nothing', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  await open().deliver(resolvedEvent());
  expect(messages).toEqual([]);
});

test('an acknowledgement is a reply in the thread of its alert, and nothing where there is no thread', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  const { alertId } = alertEvent().payload;
  const acknowledged = example(Topic.alert, 'ALERT_ACKNOWLEDGED', { alertId, by: '<ada>' });
  await open().acknowledge?.(acknowledged);
  expect(messages).toEqual([]);
  await open().deliver(alertEvent());
  await open().acknowledge?.(acknowledged);
  expect(replies(messages)).toMatchObject([
    { thread_ts: '1700.0', text: ':raising_hand: acknowledged by &lt;ada&gt;' },
  ]);
});

test('what an agent wrote mentions no person and makes no link', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  await open().deliver(alertEvent({ title: '<!channel> <@U1>', text: '<https://evil.example|Approve> & more' }));
  const shown = JSON.stringify(messages);
  expect(shown).not.toMatch(/<[!@h]/);
  expect(shown).toContain('&lt;!channel&gt;');
});

const buttonsOf = (messages: readonly Message[]) =>
  messages[0]?.blocks?.find(({ type }) => type === 'actions')?.elements ?? [];

test('without a token of the app a button opens the page of its choice; with one it carries the answer', async () => {
  const { messages, server, open } = await workspace();
  await using _ = server;
  await open().deliver(escalation());
  expect(buttonsOf(messages)).toMatchObject([
    { action_id: 'vigil:decide:allow_more_time', url: expect.stringContaining('/v1/decision?link=') },
    { action_id: 'vigil:decide:pardon' },
  ]);
  messages.length = 0;
  await open({ app_token_env: 'SLACK_APP_TOKEN' }).deliver(escalation());
  const [button] = buttonsOf(messages);
  expect(button?.url).toBeUndefined();
  expect(String(button?.value)).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  expect(String(button?.value).length).toBeLessThan(2000);
});

test.each([
  [{ ok: false, error: 'internal_error' }, 200, {}, { name: 'TryLater', afterMs: null }],
  [{ ok: false, error: 'ratelimited' }, 429, { 'retry-after': '30' }, { name: 'TryLater', afterMs: 30_000 }],
  [{}, 503, {}, { name: 'TryLater' }],
  [
    { ok: false, error: 'not_in_channel' },
    200,
    {},
    { name: 'Undeliverable', message: /invite the app to the channel/ },
  ],
  [{ ok: false, error: 'invalid_auth' }, 200, {}, { name: 'Undeliverable', message: /give it a valid token/ }],
] as const)(
  'the answer %j with %d is waited out, or refused with a remedy and without the token',
  async (body, status, headers, expected) => {
    await using server = await answeringWith(status, body, headers);
    const settings = slack.settings.parse({ kind: 'slack', url: server.url, channel: 'C0123', token_env: 'T' });
    const error = (await failureOf(
      slack.open('ops', settings, { ...sinkDeps, env: { T: TOKEN } }).deliver(alertEvent()),
    )) as Error;
    const { message, ...others } = { message: /./, ...expected };
    expect(error).toMatchObject(others);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('hunter2');
  },
);

test('a press of a button posts to its link with the name of the person, and a refusal is a reply in the thread', async () => {
  await using dashboard = await receiver(({ path }, response) =>
    path.endsWith('link=used')
      ? response.writeHead(409).end(JSON.stringify({ detail: 'ada has answered pardon.' }))
      : response.writeHead(202).end('{}'),
  );
  const api = createServer();
  const sockets = new WebSocketServer({ server: api });
  const posted: string[] = [];
  api.on('request', async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url?.endsWith('chat.postMessage')) posted.push(Buffer.concat(chunks).toString());
    const { port } = api.address() as AddressInfo;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ok: true, url: `ws://127.0.0.1:${port}/`, ts: '1' }));
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const acknowledged: string[] = [];
  const press = (value: string, id: string) =>
    JSON.stringify({
      ...{ type: 'interactive', envelope_id: id, accepts_response_payload: true },
      payload: {
        ...{ type: 'block_actions', user: { id: 'U1', username: 'ada' }, container: { message_ts: '1700.0' } },
        actions: [
          { action_id: 'vigil:decide:pardon', value },
          { action_id: 'other:app', value: 'x' },
        ],
      },
    });
  sockets.on('connection', (socket) => {
    socket.on('message', (data) => acknowledged.push(JSON.parse(String(data)).envelope_id));
    socket.send(JSON.stringify({ type: 'hello', num_connections: 1 }));
    socket.send(press('fresh', 'p1'));
    socket.send(press('used', 'p2'));
  });
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}/api/`;
  const settings = slack.settings.parse({
    ...{ kind: 'slack', url, channel: 'C0123', token_env: 'T', app_token_env: 'A' },
  });
  const env = { T: TOKEN, A: 'xapp-hunter2' };
  const sink = slack.open('ops', settings, { ...sinkDeps, env, dashboardUrl: dashboard.url });
  const running = await sink.run?.({ logger: quiet, openFor: () => [], timeFlows: () => true });
  await vi.waitFor(() => expect(posted).toHaveLength(1), 30_000);
  expect(acknowledged.toSorted()).toEqual(['p1', 'p2']);
  expect(dashboard.received.map(({ path }) => path).toSorted()).toEqual([
    '/v1/decision?link=fresh',
    '/v1/decision?link=used',
  ]);
  expect(JSON.parse(dashboard.received[0]?.body ?? '')).toEqual({ by: 'ada', why: 'by a button in Slack' });
  expect(new URLSearchParams(posted[0]).get('text')).toBe('The answer is not taken: ada has answered pardon.');
  await running?.[Symbol.asyncDispose]();
  sockets.close();
  api.closeAllConnections();
  api.close();
});

test('an incoming webhook gets a message for each change, and its address is never shown', async () => {
  await using server = await answeringWith(200, {});
  const open = (url: string) =>
    slackWebhook.open('hook', slackWebhook.settings.parse({ kind: 'slack_webhook', url_env: 'URL' }), {
      ...sinkDeps,
      env: { URL: url },
    });
  await open(`${server.url}/services/T0/B0/hunter2`).deliver(escalation());
  const { text, blocks } = JSON.parse(server.received[0]?.body ?? '');
  expect(text).toBe(':red_circle: worker-1 is STUCK');
  expect(blocks.at(-1)).toMatchObject({ type: 'actions' });
  await using gone = await answeringWith(404, {});
  const error = (await failureOf(open(`${gone.url}/services/T0/B0/hunter2`).deliver(alertEvent()))) as Error;
  expect(error.message).toContain('create it again');
  expect(error.message).not.toContain('hunter2');
  expect(() => open('hunter2')).toThrow(
    'channels.hook.url_env: URL is not an address: set it to the address of an incoming webhook',
  );
  expect(() => open('hunter2')).not.toThrow(/hunter2/);
});
