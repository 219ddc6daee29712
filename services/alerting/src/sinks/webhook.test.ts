import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyLink } from '@vigil/chassis/decision-link';
import { EXAMPLE_TIME } from '@vigil/events/examples';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test } from 'vitest';
import { TryLater, Undeliverable } from '../delivery/sink.ts';
import {
  alertEvent,
  blockedAlert,
  brakeAlert,
  countEvent,
  escalation,
  LINK_KEY,
  permissionRequest,
  SECRET,
  severalQuestions,
  sinkDeps,
  ticketAlert,
} from './sinks.fixture.ts';
import { signed, webhook } from './webhook.ts';

type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

let servers = new AsyncDisposableStack();
afterEach(async () => {
  await servers.disposeAsync();
  servers = new AsyncDisposableStack();
});

/** A receiver on loopback that records requests and answers as a test sets. */
const receiver = async (answer: (response: ServerResponse) => void) => {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/vigil` };
};
const answering = (status: number, headers: Record<string, string> = {}) =>
  receiver((response) => response.writeHead(status, headers).end());
const sink = (url: string, timeout = '5s', env = sinkDeps.env) =>
  webhook.open(
    'orchestrator',
    webhook.settings.parse({ kind: 'webhook', url, secret_env: 'VIGIL_WEBHOOK_SECRET', timeout }),
    { ...sinkDeps, env },
  );
const verified = ({ headers, body }: Received, secret = SECRET): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);
const shown = (url: string) => `${new URL(url).origin}/…`;
const failure = (url: string, timeout?: string) =>
  sink(url, timeout)
    .deliver(alertEvent())
    .then(
      () => null,
      (error: unknown) => error,
    );

test('it is signed as the specification’s own example is', () => {
  const at = 1_614_265_330_000;
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  expect(signed([key], 'msg_p5jXN8AQM9LWM0D4loKWxJek', at, '{"test": 2432232314}')).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('an escalation carries options, deadline, where to decide, and the newest checkpoint and its validity', async () => {
  const { received, url } = await answering(204);
  await sink(url).deliver(escalation());
  const deadline = new Date(EXAMPLE_TIME + 900_000).toISOString();
  expect(verified(received[0] as Received)).toMatchObject({
    type: 'alert.raised',
    timestamp: new Date(EXAMPLE_TIME).toISOString(),
    data: {
      ...{ severity: 'critical', agent_id: 'worker-1', task_id: 'OMN-1234', case_id: 'case-1' },
      decision: {
        ...{ options: ['allow_more_time', 'pardon'], deadline, on_timeout: 'terminate', method: 'POST' },
        url: 'http://127.0.0.1:7420/v1/commands',
        body: { kind: 'decide_case', caseId: 'case-1', decision: 'allow_more_time', by: '', why: '' },
      },
      checkpoint: { checkpoint_id: 'checkpoint-1', valid: true },
      written_by_agents: ['title', 'text', 'labels', 'blocked', 'checkpoint', 'friction', 'decision.questions'],
      friction: null,
    },
  });
});

test('a message has whether it is quiet, so that a receiver need not disturb people', async () => {
  const { received, url } = await answering(204);
  await sink(url).deliver(alertEvent());
  await sink(url).deliver(countEvent());
  expect(received.map(({ body }) => JSON.parse(body).data.quiet)).toEqual([false, true]);
});

test('the command of an answer names the question that was put, so that it answers no later one', async () => {
  const { received, url } = await answering(204);
  const askedAt = EXAMPLE_TIME - 5;
  await sink(url).deliver(escalation({ askedAt }));
  const review = { caseId: null, askedAt, options: ['retry', 'reset', 'abandon'] };
  await sink(url).deliver(alertEvent({ ...review, taskId: 'OMN-1234' }));
  const bodies = received.map(({ body }) => JSON.parse(body).data.decision.body);
  expect(bodies).toMatchObject([
    { kind: 'decide_case', caseId: 'case-1', askedAt },
    { kind: 'review_task', taskId: 'OMN-1234', decision: 'retry', askedAt },
  ]);
});

test('a request of an agent carries its id, its options, and how to answer it', async () => {
  const { received, url } = await answering(204);
  await sink(url).deliver(permissionRequest());
  const { data } = JSON.parse((received[0] as Received).body);
  expect(data).toMatchObject({
    request_id: 'r-1',
    decision: {
      ...{ options: ['allow', 'deny'], on_timeout: 'no_decision' },
      body: { kind: 'answer_request', requestId: 'r-1', option: 'allow', by: '', why: '' },
    },
  });
  const token = new URL(data.decision.links.deny).searchParams.get('link') ?? '';
  expect(await verifyLink(LINK_KEY, token, EXAMPLE_TIME)).toMatchObject({
    ...{ kind: 'answer_request', subject: 'r-1', decision: 'deny' },
  });
});

test.each([
  ['ticket/t-1', ticketAlert()],
  ['task/OMN-1234', blockedAlert()],
])('the alert of %s carries the item, and a link that acknowledges the alert', async (item, alert) => {
  const { received, url } = await answering(204);
  await sink(url).deliver(alert);
  const { data } = JSON.parse((received[0] as Received).body);
  const { alert_id: alertId, decision } = data;
  expect(data).toMatchObject({ item, text: 'no call' });
  expect(decision).toMatchObject({
    ...{ options: ['acknowledge'], deadline: null },
    body: { kind: 'acknowledge', alertId, by: '', why: '' },
  });
  const token = new URL(decision.links.acknowledge).searchParams.get('link') ?? '';
  expect(await verifyLink(LINK_KEY, token, EXAMPLE_TIME)).toMatchObject({
    ...{ kind: 'acknowledge', subject: alertId, decision: 'acknowledge' },
  });
});

test('the brake carries its item and its command, and no link: an operator lifts it', async () => {
  const { received, url } = await answering(204);
  await sink(url).deliver(brakeAlert());
  const { data } = JSON.parse((received[0] as Received).body);
  expect(data).toMatchObject({
    item: 'brake',
    decision: { options: ['lift'], links: null, body: { kind: 'lift_brake', by: '', why: '' } },
  });
});

test('several questions are all there, with the page and the form of the answers', async () => {
  const { received, url } = await answering(204);
  await sink(url).deliver(severalQuestions());
  const { data } = JSON.parse((received[0] as Received).body);
  expect(data.written_by_agents).toContain('decision.questions');
  expect(data.decision).toMatchObject({
    ...{ options: [], links: null, page: 'http://127.0.0.1:7420/#/inbox' },
    questions: [
      { name: 'Method', text: 'Which?', is_multiple: false, options: [{ label: 'Login' }, { label: 'Search' }] },
      { name: 'Features', is_multiple: true },
    ],
    body: {
      ...{ kind: 'answer_request', requestId: 'r-1' },
      answers: [
        { question: 'Method', labels: ['Login'], text: null },
        { question: 'Features', labels: ['Login'], text: null },
      ],
    },
  });
});

test('a Blocked task carries omniclaude’s friction event, which a receiver can write where the agents work', async () => {
  const { received, url } = await answering(204);
  const raisedAt = Date.parse('2026-04-02T14:30:00Z');
  const blocked = { attempts: 3, limit: 2, reason: '2 of 2 attempts used', endedByItself: false };
  await sink(url).deliver(alertEvent({ raisedAt, blocked }));
  const { friction } = JSON.parse((received[0] as Received).body).data;
  expect(friction).toEqual({
    path: '.onex_state/friction/2026-04-02-agent-stall-escalation-omn-1234.md',
    text: expect.stringMatching(/^# Agent Stall Escalation: OMN-1234\n## Summary\nAgent stalled 3 times on OMN-1234,/),
  });
});

test('each choice has a link for its case and channel, the same at a repetition', async () => {
  const { received, url } = await answering(204);
  const alert = escalation();
  for (let i = 0; i < 2; i++) await sink(url).deliver(alert);
  const [first, second] = received.map(({ body }) => JSON.parse(body).data.decision.links);
  expect(second).toEqual(first);
  expect(Object.keys(first)).toEqual(['allow_more_time', 'pardon']);
  for (const decision of ['allow_more_time', 'pardon']) {
    const { origin, pathname, searchParams } = new URL(first[decision]);
    expect(origin + pathname).toBe('http://127.0.0.1:7420/v1/decision');
    expect(await verifyLink(LINK_KEY, searchParams.get('link') ?? '', EXAMPLE_TIME)).toEqual({
      ...{ kind: 'decide_case', subject: 'case-1', decision, channel: 'orchestrator' },
      ...{ deadlineAt: EXAMPLE_TIME + 900_000, sentAt: EXAMPLE_TIME },
    });
  }
});

test('without a key there are no links, and the question stays', async () => {
  const { received, url } = await answering(204);
  const settings = webhook.settings.parse({ kind: 'webhook', url, secret_env: 'VIGIL_WEBHOOK_SECRET' });
  await webhook.open('orchestrator', settings, { ...sinkDeps, linkKey: null }).deliver(escalation());
  expect(JSON.parse((received[0] as Received).body).data.decision).toMatchObject({ links: null, method: 'POST' });
});

test('a review of a task has links for the task', async () => {
  const { received, url } = await answering(204);
  await sink(url).deliver(alertEvent({ caseId: null, taskId: 'T-1', options: ['retry'] }));
  const { decision } = JSON.parse((received[0] as Received).body).data;
  const token = new URL(decision.links.retry).searchParams.get('link') ?? '';
  expect(await verifyLink(LINK_KEY, token, EXAMPLE_TIME)).toMatchObject({ kind: 'review_task', subject: 'T-1' });
  expect(decision.body).toMatchObject({ kind: 'review_task', taskId: 'T-1' });
});

test('what asks nothing asks for no decision', async () => {
  const { received, url } = await answering(200);
  await sink(url).deliver(alertEvent());
  expect(JSON.parse((received[0] as Received).body)).toMatchObject({ data: { decision: null, checkpoint: null } });
});

test('a repetition has the same id, which identifies it', async () => {
  const { received, url } = await answering(200);
  const one = sink(url);
  await one.deliver(alertEvent());
  await one.deliver(alertEvent());
  expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([alertEvent().eventId, alertEvent().eventId]);
});

test('a receiver with another secret, or a changed body, rejects the signature', async () => {
  const { received, url } = await answering(200);
  await sink(url).deliver(alertEvent());
  const [one] = received as [Received];
  expect(() => verified(one, 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')).toThrow('No matching signature');
  expect(() => verified({ ...one, body: one.body.replace('STUCK', 'HEALTHY') })).toThrow('No matching signature');
});

test('while secrets are exchanged, a receiver verifies with either', async () => {
  const { received, url } = await answering(200);
  const next = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  await sink(url, '5s', { VIGIL_WEBHOOK_SECRET: `${next} ${SECRET}` }).deliver(alertEvent());
  for (const secret of [SECRET, next]) expect(verified(received[0] as Received, secret)).toMatchObject({});
});

test.each([408, 425, 429, 500, 502, 503])('%d is waited out', async (status) => {
  const { url } = await answering(status);
  expect(await failure(url)).toMatchObject({
    name: 'TryLater',
    afterMs: null,
    message: `${shown(url)} answered ${status}`,
  });
});

test('for as long as the receiver requests', async () => {
  const { url } = await answering(429, { 'retry-after': '7' });
  expect(await failure(url)).toMatchObject({ name: 'TryLater', afterMs: 7000 });
});

test('a receiver that does not answer, or is not there, is waited out too', async () => {
  const { url } = await receiver(() => {});
  expect(await failure(url, '50ms')).toMatchObject({ message: `${shown(url)} cannot be reached: no answer in time` });
  expect(await failure('http://127.0.0.1:1/vigil')).toBeInstanceOf(TryLater);
});

test.each([301, 400, 401, 404, 410])('%d does not change by asking again', async (status) => {
  const { url } = await answering(status, status === 301 ? { location: 'http://127.0.0.1:1/' } : {});
  expect(await failure(url)).toBeInstanceOf(Undeliverable);
});

test.each(['/T0/B0/hunter2', '/?token=hunter2'])(
  '%s: its address, which may be a secret, is never shown',
  async (path) => {
    for (const status of [500, 404]) {
      const { url } = await answering(status);
      const error = await failure(new URL(path, url).href);
      expect((error as Error).message).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/… answered/);
    }
    const away = await failure(new URL(path, 'http://127.0.0.1:1').href);
    expect((away as Error).message).toMatch(/^http:\/\/127\.0\.0\.1:1\/… cannot be reached: /);
    expect((away as Error).message).not.toContain('hunter2');
  },
);

test('a name and a password are no part of its address, and the refusal does not show them', () => {
  const read = webhook.settings.safeParse({ kind: 'webhook', url: 'https://ada:hunter2@a.example/', secret_env: 'X' });
  expect(read.error?.issues.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^write no name and password/),
  ]);
  expect(String(read.error)).not.toContain('hunter2');
});

test('a secret has 24 to 64 bytes', () => {
  const accepts = (bytes: number) => {
    const secret = `whsec_${Buffer.alloc(bytes).toString('base64')}`;
    try {
      return Boolean(sink('http://127.0.0.1:1/', '5s', { VIGIL_WEBHOOK_SECRET: secret }));
    } catch {
      return false;
    }
  };
  expect([23, 24, 64, 65].map(accepts)).toEqual([false, true, true, false]);
});

test.each([
  [{}, /VIGIL_WEBHOOK_SECRET is not set: set it to whsec_/],
  [{ VIGIL_WEBHOOK_SECRET: 'hunter2' }, /VIGIL_WEBHOOK_SECRET is not a secret/],
  [{ VIGIL_WEBHOOK_SECRET: 'whsec_c2hvcnQ=' }, /VIGIL_WEBHOOK_SECRET is not a secret/],
])('without a secret it is refused, and no secret is shown: %#', (env, message) => {
  const { url } = { url: 'http://127.0.0.1:1/' };
  expect(() => sink(url, '5s', env)).toThrow(message);
  expect(() => sink(url, '5s', env)).not.toThrow(/hunter2|c2hvcnQ/);
});
