import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { afterEach, expect, test, vi } from 'vitest';
import { type AlertEvent, TryLater, Undeliverable } from '../../services/alerting/src/delivery/sink.ts';
import { ntfy } from '../../services/alerting/src/sinks/ntfy.ts';
import { type Notification, type NtfyServer, openNtfy, subscribe } from '../support/ntfy.ts';

/** With VIGIL_NTFY a real server, else one with the documented protocol: docs/channels.md has the command. */
const TOPIC = 'vigil-alerts';
const DASHBOARD = 'http://127.0.0.1:7420';
const LIMIT_MS = 30_000;

let stop = new AbortController();
afterEach(() => {
  stop.abort();
  stop = new AbortController();
});

const alert = (fields: Parameters<typeof example<typeof Topic.alert, 'ALERT_RAISED'>>[2] = {}): AlertEvent =>
  example(Topic.alert, 'ALERT_RAISED', {
    ...{ route: 'stuck_agent', severity: 'warning', title: 'worker-1 is STUCK', text: 'no call for 10m' },
    ...{
      options: [],
      deadlineAt: null,
      onTimeout: null,
      checkpoint: null,
      blocked: null,
      requestId: null,
      itemId: null,
    },
    raisedAt: EXAMPLE_TIME,
    ...fields,
  });

const sinkOf = ({ url, token }: Pick<NtfyServer, 'url' | 'token'>) =>
  ntfy.open('phone', ntfy.settings.parse({ kind: 'ntfy', url, topic: TOPIC, token_env: 'NTFY_TOKEN' }), {
    ...{
      now: () => EXAMPLE_TIME,
      dashboardUrl: DASHBOARD,
      linkKey: 'a-key-for-tests-only-of-some-length',
      linearChannels: [],
    },
    env: { NTFY_TOKEN: token },
  });

/** A phone that has subscribed to the topic: what it has received. */
const phoneOf = async (server: NtfyServer): Promise<readonly Notification[]> => {
  const received: Notification[] = [];
  await subscribe(server, TOPIC, (one) => received.push(one), stop.signal);
  return received;
};

const failureOf = (delivery: Promise<void>): Promise<unknown> =>
  delivery.then(
    () => null,
    (error: unknown) => error,
  );

test('a subscriber receives the alert with its title, text, priority, tags and address', async () => {
  await using server = await openNtfy();
  const phone = await phoneOf(server);
  await sinkOf(server).deliver(alert());
  await vi.waitFor(() => expect(phone).toHaveLength(1), LIMIT_MS);
  expect(phone[0]).toMatchObject({
    ...{ event: 'message', topic: TOPIC, title: 'worker-1 is STUCK', message: 'no call for 10m' },
    ...{ priority: 4, tags: ['rotating_light', 'stuck_agent'], click: DASHBOARD },
  });
});

test('the buttons of a request arrive with the address, the method and the body that answer it', async () => {
  await using server = await openNtfy();
  const phone = await phoneOf(server);
  const request = { caseId: null, requestId: 'r-1', options: ['allow', 'deny'], deadlineAt: EXAMPLE_TIME + 60_000 };
  await sinkOf(server).deliver(alert({ ...request, route: 'awaiting_input', onTimeout: 'no_decision' }));
  await vi.waitFor(() => expect(phone).toHaveLength(1), LIMIT_MS);
  const actions = phone[0]?.actions ?? [];
  expect(actions.map(({ label }) => label)).toEqual(['Allow', 'Deny']);
  for (const button of actions) {
    expect(button).toMatchObject({ action: 'http', method: 'POST', clear: true });
    expect(button.headers).toEqual({ 'content-type': 'application/json' });
    expect(button.url).toMatch(/^http:\/\/127\.0\.0\.1:7420\/v1\/decision\?link=/);
    expect(JSON.parse(button.body)).toEqual({ why: 'by a button of ntfy' });
  }
});

test('a question with more than three choices is accepted, with three buttons', async () => {
  await using server = await openNtfy();
  const phone = await phoneOf(server);
  const options = ['allow_more_time', 'pardon', 'force_handoff', 'terminate'];
  await sinkOf(server).deliver(alert({ options, caseId: 'case-1', deadlineAt: EXAMPLE_TIME + 60_000 }));
  await vi.waitFor(() => expect(phone).toHaveLength(1), LIMIT_MS);
  expect(phone[0]?.actions).toHaveLength(3);
});

test('the longest texts stay a notification, and do not become a file', async () => {
  await using server = await openNtfy();
  const phone = await phoneOf(server);
  await sinkOf(server).deliver(alert({ title: 'é'.repeat(5000), text: '漢'.repeat(50_000) }));
  await vi.waitFor(() => expect(phone).toHaveLength(1), LIMIT_MS);
  expect(phone[0]).not.toHaveProperty('attachment');
  expect(phone[0]?.message).toMatch(/^漢+…$/);
});

test('a wrong token is refused for good, and the error does not contain it', async () => {
  await using server = await openNtfy();
  const error = await failureOf(
    sinkOf({ url: server.url, token: 'tk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaa' }).deliver(alert()),
  );
  expect(error).toBeInstanceOf(Undeliverable);
  expect((error as Error).message).toContain('401: give it a token of the server');
  expect((error as Error).message).not.toContain('tk_');
});

test('a topic that needs a token refuses a channel without one', async () => {
  await using server = await openNtfy();
  const settings = ntfy.settings.parse({ kind: 'ntfy', url: server.url, topic: TOPIC });
  const deps = { now: () => EXAMPLE_TIME, dashboardUrl: DASHBOARD, linkKey: null, linearChannels: [], env: {} };
  const error = await failureOf(ntfy.open('phone', settings, deps).deliver(alert()));
  expect(error).toBeInstanceOf(Undeliverable);
  expect((error as Error).message).toContain('403: give it a token of the server');
});

test('a server that limits the rate is tried again later', async () => {
  await using server = await openNtfy({ requests: 2 });
  const sink = sinkOf(server);
  const outcomes = [await failureOf(sink.deliver(alert())), await failureOf(sink.deliver(alert()))];
  for (let n = 0; n < 5; n += 1) outcomes.push(await failureOf(sink.deliver(alert())));
  expect(outcomes.at(-1)).toBeInstanceOf(TryLater);
  expect((outcomes.at(-1) as Error).message).toContain('answered 429');
});

test('a server that is away is tried again later', async () => {
  const server = await openNtfy();
  await server[Symbol.asyncDispose]();
  expect(await failureOf(sinkOf(server).deliver(alert()))).toBeInstanceOf(TryLater);
});
