import type { IncomingHttpHeaders } from 'node:http';
import { type EventOf, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { type LogRecord, Retry, readEvent, writer } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { expect, test, vi } from 'vitest';
import { alertmanager } from '../sinks/alertmanager.ts';
import { linear } from '../sinks/linear.ts';
import { ntfy } from '../sinks/ntfy.ts';
import { pagerduty } from '../sinks/pagerduty.ts';
import { type Received, receiver, SECRET, sinkDeps } from '../sinks/sinks.fixture.ts';
import { slack } from '../sinks/slack/slack.ts';
import { slackWebhook } from '../sinks/slack/slack-webhook.ts';
import { webhook } from '../sinks/webhook.ts';
import { deliveredIn, runDeliveries } from './deliveries.ts';
import { deliver } from './delivery.ts';
import type { Sink, SinkDeps } from './sink.ts';

const MINUTE = 60_000;
const START = 1_795_305_600_000;
const ALERTS = 12;
/** An alert is about one task; its issue in Linear. */
const taskOf = (n: number): string => `OMN-${100 + n}`;

type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly body: string };

/** A service that alerts are delivered to, as its protocol is documented. */
type Channel = {
  readonly open: (url: string, deps: SinkDeps) => Sink;
  /** its answers while it is over its limit, and while it is down */
  readonly limited: Answer;
  readonly down: Answer;
  /** answers a request that it accepts. `notified`: the task that people are notified of by it; null: none */
  readonly accept: () => (request: Received) => { readonly body: object | string; readonly notified: string | null };
  /** how often at most a person is notified twice, if the process ends before it has written an outcome */
  readonly doubled: 0 | 1;
};

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
  ...{ status, body: JSON.stringify(body) },
  headers: { 'content-type': 'application/json', ...headers },
});
const RETRY_AFTER = { 'retry-after': '45' };
/** Of a proxy before the service. */
const UNAVAILABLE: Answer = {
  ...{ status: 503, headers: { 'content-type': 'text/html' } },
  body: '<html><title>503 Service Temporarily Unavailable</title></html>',
};
const TASK = /OMN-\d+/;
const taskIn = (text: string): string | null => TASK.exec(text)?.[0] ?? null;

/** Slack's Web API with one channel, whose messages have metadata. */
const workspace = (): ReturnType<Channel['accept']> => {
  const messages: { readonly ts: string; readonly metadata: unknown }[] = [];
  return ({ path, body }) => {
    if (!path.endsWith('/chat.postMessage')) return { body: { ok: true, messages }, notified: null };
    const fields = new URLSearchParams(body);
    const ts = `1700.${messages.length}`;
    messages.push({ ts, metadata: JSON.parse(fields.get('metadata') ?? 'null') });
    return { body: { ok: true, ts }, notified: taskIn(fields.get('text') ?? '') };
  };
};

/** Linear with an issue for each task. */
const issues = (): ReturnType<Channel['accept']> => {
  const comments = new Set<string>();
  return ({ body }) => {
    const { query, variables } = JSON.parse(body) as { readonly query: string; readonly variables: { issue: string } };
    const { issue } = variables;
    const nodes = comments.has(issue) ? [{ id: 'comment' }] : [];
    const team = { states: { nodes: [{ id: 'blocked' }] } };
    if (query.startsWith('query'))
      return { body: { data: { issue: { id: issue, team, comments: { nodes } } } }, notified: null };
    const isNew = query.includes('commentCreate');
    comments.add(issue);
    return { body: { data: { issueUpdate: { success: true } } }, notified: isNew ? issue : null };
  };
};

const channels: Readonly<Record<string, Channel>> = {
  pagerduty: {
    open: (url, deps) =>
      pagerduty.open('channel', pagerduty.settings.parse({ kind: 'pagerduty', url, routing_key_env: 'KEY' }), deps),
    limited: json(
      429,
      { status: 'throttle exceeded', message: 'Requests for this service are arriving too quickly.' },
      RETRY_AFTER,
    ),
    down: json(503, { status: 'server error', message: 'Service Unavailable' }),
    accept: () => (request) => ({ body: { status: 'success' }, notified: taskIn(request.body) }),
    doubled: 1,
  },
  ntfy: {
    open: (url, deps) =>
      ntfy.open('channel', ntfy.settings.parse({ kind: 'ntfy', url, topic: 'vigil', token_env: 'KEY' }), deps),
    limited: json(
      429,
      { code: 42901, http: 429, error: 'limit reached: too many requests', link: 'https://ntfy.sh/docs/publish/' },
      RETRY_AFTER,
    ),
    down: UNAVAILABLE,
    accept: () => (request) => ({ body: { id: 'm', event: 'message' }, notified: taskIn(request.body) }),
    doubled: 1,
  },
  alertmanager: {
    open: (url, deps) =>
      alertmanager.open('channel', alertmanager.settings.parse({ kind: 'alertmanager', url, token_env: 'KEY' }), deps),
    // It has no limit of its own: a proxy before it may.
    limited: { status: 429, headers: RETRY_AFTER, body: 'Too Many Requests' },
    down: json(503, 'context deadline exceeded'),
    accept: () => (request) => ({ body: '', notified: taskIn(request.body) }),
    doubled: 1,
  },
  linear: {
    open: (url, deps) =>
      linear.open('channel', linear.settings.parse({ kind: 'linear', url, api_key_env: 'KEY' }), deps),
    // Its limit is an error of GraphQL without a header.
    limited: json(400, {
      errors: [{ message: 'Rate limit exceeded', extensions: { code: 'RATELIMITED', userError: true } }],
    }),
    down: UNAVAILABLE,
    accept: issues,
    doubled: 0,
  },
  slack: {
    open: (url, deps) =>
      slack.open(
        'channel',
        slack.settings.parse({ kind: 'slack', url: `${url}/api/`, channel: 'C0123', token_env: 'KEY' }),
        deps,
      ),
    limited: json(429, { ok: false, error: 'ratelimited' }, RETRY_AFTER),
    down: json(503, { ok: false, error: 'service_unavailable' }),
    accept: workspace,
    doubled: 0,
  },
  'slack, incoming webhook': {
    open: (url, deps) => {
      const settings = slackWebhook.settings.parse({ kind: 'slack_webhook', url_env: 'URL' });
      return slackWebhook.open('channel', settings, { ...deps, env: { URL: url } });
    },
    limited: { status: 429, headers: RETRY_AFTER, body: 'rate_limited' },
    down: { status: 503, body: 'rollup_error' },
    accept: () => (request) => ({ body: 'ok', notified: taskIn(request.body) }),
    doubled: 1,
  },
  webhook: {
    open: (url, deps) =>
      webhook.open('channel', webhook.settings.parse({ kind: 'webhook', url, secret_env: 'SECRET' }), deps),
    limited: { status: 429, headers: RETRY_AFTER, body: '' },
    down: { status: 503, body: '' },
    accept: () => (request) => ({ body: '', notified: taskIn(request.body) }),
    doubled: 1,
  },
};

/** Blocked tasks, so that each kind of channel delivers them. */
const alertsFor = (sink: string, deliverAt: number) =>
  Array.from({ length: ALERTS }, (_, n) => ({
    ...example(Topic.alert, 'ALERT_RAISED', {
      ...{ alertId: `alert-${n}`, alertKey: `recovery_failed:${taskOf(n)}`, route: 'recovery_failed', deliverAt },
      ...{ taskId: taskOf(n), title: `${taskOf(n)} is blocked`, text: 'it failed', raisedAt: deliverAt, sinks: [sink] },
      blocked: { attempts: 3, limit: 3, reason: '3 of 3 attempts used', endedByItself: false },
    }),
    key: `recovery_failed:${taskOf(n)}`,
  }));

const deps: SinkDeps = { ...sinkDeps, env: { KEY: 'key', SECRET } };

/** The alerts in the log, in the order of one partition. */
const alertsIn = async (log: MemoryLog): Promise<readonly EventOf<typeof Topic.alert>[]> => {
  const records: LogRecord[] = [];
  const [range] = await log.bounds(Topic.alert);
  if (range !== undefined) await log.read(Topic.alert, 0, range, (record) => void records.push(record));
  const events = (await Promise.all(records.map((record) => readEvent(log.codec, record)))) as EventOf<
    typeof Topic.alert
  >[];
  return events.filter(({ type }) => type === 'ALERT_RAISED');
};

test.each(Object.entries(channels))(
  '%s, ten minutes over its limit and down, with restarts: nothing is lost, and one alert at most is doubled',
  async (_, { open, limited, down, accept, doubled }) => {
    let now = START;
    let answers = 0;
    const notified: string[] = [];
    const accepts = accept();
    const isAway = () => now < START + 10 * MINUTE;
    await using server = await receiver((request, response) => {
      answers += 1;
      if (isAway()) {
        const { status, headers, body } = answers % 2 === 0 ? limited : down;
        return void response.writeHead(status, headers ?? {}).end(body);
      }
      const { body, notified: task } = accepts(request);
      if (task !== null) notified.push(task);
      const isText = typeof body === 'string';
      response
        .writeHead(200, { 'content-type': isText ? 'text/plain' : 'application/json' })
        .end(isText ? body : JSON.stringify(body));
    });
    const log = new MemoryLog({ partitions: 1, now: () => now });
    const { write } = writer(log, () => now);
    await write(alertsFor('channel', START));
    const alerts = await alertsIn(log);
    /** A new process: what is delivered is what the log has. */
    const start = async () =>
      deliver(open(server.url, { ...deps, now: () => now }), {
        ...{ now: () => now, random: () => 0, pause: async () => {}, newest: { after: () => null } },
        report: async () => [],
        delivered: await deliveredIn(log, []),
      });
    let react = await start();
    let hasRestarted = false;
    let hasEnded = false;
    /** The position of the group is written now and then: after an end, alerts are read again from there. */
    let published = 0;
    for (let at = 0; at < alerts.length; at += 1) {
      for (;;) {
        const outcome = await react(alerts[at] as (typeof alerts)[number]).catch((error: unknown) => error);
        if (outcome instanceof Retry) {
          now += outcome.afterMs ?? 0;
          if (hasRestarted || now < START + 5 * MINUTE) continue;
          hasRestarted = true;
          react = await start();
          continue;
        }
        expect(outcome).toBeInstanceOf(Array);
        if (at === 7 && !hasEnded) {
          // The process ends after this delivery, whose outcome is not written.
          hasEnded = true;
          react = await start();
          at = published - 1;
          break;
        }
        await write(outcome as Parameters<typeof write>[0]);
        if (at % 4 === 3) published = at + 1;
        break;
      }
    }
    expect(hasRestarted && hasEnded).toBe(true);
    expect(now).toBeGreaterThanOrEqual(START + 10 * MINUTE);
    expect(now).toBeLessThan(START + 20 * MINUTE);
    expect(new Set(notified)).toEqual(new Set(alerts.map((_, n) => taskOf(n))));
    expect(notified).toHaveLength(ALERTS + doubled);
  },
);

test('a channel that never answers holds up no other: it gets all alerts while the first still waits for its first', async () => {
  const got: IncomingHttpHeaders[] = [];
  let waiting = 0;
  await using hanging = await receiver(() => {
    waiting += 1;
  });
  await using works = await receiver(({ headers }, response) => {
    got.push(headers);
    response.writeHead(204).end();
  });
  const log = new MemoryLog({ partitions: 1 });
  const sinkAt = (name: string, url: string) =>
    webhook.open(name, webhook.settings.parse({ kind: 'webhook', url, secret_env: 'SECRET', timeout: '10m' }), deps);
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const outside = { now: Date.now, timeFlows: () => true, random: () => 1, logger: quiet, count: () => {} };
  const sinks = [sinkAt('hangs', hanging.url), sinkAt('works', works.url)];
  const running = await runDeliveries(log, sinks, outside);
  const alerts = alertsFor('works', Date.now()).map((one) => ({
    ...one,
    payload: { ...one.payload, sinks: ['hangs', 'works'] },
  }));
  const ids = await writer(log, Date.now).write(alerts);
  await vi.waitFor(() => expect(new Set(got.map((headers) => headers['webhook-id']))).toEqual(new Set(ids)), 30_000);
  expect(got).toHaveLength(ALERTS);
  expect(waiting).toBeGreaterThan(0);
  expect(new Set([...(await deliveredIn(log, []))].map((one) => one.split(' ')[0]))).toEqual(new Set(['works']));
  hanging.server.closeAllConnections();
  await running[Symbol.asyncDispose]();
});

test('a delivery is known since the position of its channel, which one message may hold back for a day', async () => {
  const log = new MemoryLog({ partitions: 1 });
  const { write } = writer(log, Date.now);
  await write([example(Topic.alert, 'ALERT_DELIVERED', { sink: 'ops', ofEventId: 'e-1', ok: true })]);
  const later = Array.from({ length: 5001 }, () => example(Topic.alert, 'ALERT_DELIVERED', { sink: 'x', ok: true }));
  await write(later);
  expect(await deliveredIn(log, ['alerting-ops'])).not.toContain('ops e-1');
  vi.spyOn(log, 'groupOffsets').mockResolvedValue([0]);
  expect(await deliveredIn(log, ['alerting-ops'])).toContain('ops e-1');
});
