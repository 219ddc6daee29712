import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { OpenAlert } from '../delivery/open-alerts.ts';
import { TryLater, Undeliverable } from '../delivery/sink.ts';
import { alertmanager } from './alertmanager.ts';
import { alertEvent, answeringWith, failureOf, resolvedEvent, sinkDeps } from './sinks.fixture.ts';

afterEach(() => {
  vi.useRealTimers();
});

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const open = (url: string, more = {}, now = Date.now) =>
  alertmanager.open('am', alertmanager.settings.parse({ kind: 'alertmanager', url, ...more }), {
    ...sinkDeps,
    now,
    env: { TOKEN: 'hunter2' },
  });
const openAlert = (n: number): OpenAlert => ({
  ...{ alertKey: `stuck_agent:w${n}`, alertId: `alert-${n}`, raisedAt: 1_795_305_600_000 },
  ...{ route: 'stuck_agent', severity: 'warning' },
  ...{
    urgency: 'normal',
    title: `w${n} is STUCK`,
    text: 'no call',
    agentId: `w${n}`,
    taskId: null,
    itemId: 'ticket/t-1',
    labels: {},
  },
  ...{ policyName: 'vigil', sinks: ['am'] },
});

test('an alert has labels that stay the same, an end in five minutes, and ends now when it is over', async () => {
  await using server = await answeringWith(200, {});
  const now = 1_795_305_600_000;
  const sink = open(server.url, {}, () => now);
  await sink.deliver(alertEvent());
  await sink.deliver(resolvedEvent());
  const [[raised], [resolved]] = server.received.map(({ body }) => JSON.parse(body));
  expect(server.received[0]?.path).toBe('/api/v2/alerts');
  expect(raised).toMatchObject({
    labels: { alertname: 'stuck_agent', severity: 'warning', task: 'OMN-1234' },
    annotations: { title: 'worker-1 is STUCK', text: 'no call', agent: 'worker-1' },
    endsAt: new Date(now + 300_000).toISOString(),
    generatorURL: 'http://127.0.0.1:7420',
  });
  expect(resolved.labels).toEqual(raised.labels);
  expect(resolved.startsAt).toBe(raised.startsAt);
  expect(resolved.endsAt).toBe(new Date(now).toISOString());
});

test('an alert about a task stays one alert when another agent has the task, and ends as one', async () => {
  await using server = await answeringWith(200, {});
  const sink = open(server.url);
  await sink.deliver(alertEvent({ agentId: 'crashes-r1' }));
  await sink.deliver(alertEvent({ agentId: null }));
  await sink.deliver(resolvedEvent({ agentId: 'crashes-r3' }));
  const posts = server.received.map(({ body }) => JSON.parse(body));
  expect(posts.map((alerts) => alerts.length)).toEqual([1, 1, 1]);
  const [raised, updated, resolved] = posts.map(([one]) => one.labels);
  expect(updated).toEqual(raised);
  expect(resolved).toEqual(raised);
});

test('two alerts about one task stay two', async () => {
  await using server = await answeringWith(200, {});
  const sink = open(server.url);
  await sink.deliver(alertEvent({ alertKey: 'circuit_breaker_open:T-1:external_api', alertId: 'a' }));
  await sink.deliver(alertEvent({ alertKey: 'circuit_breaker_open:T-1:tool_execution', alertId: 'b' }));
  const [[first], [second]] = server.received.map(({ body }) => JSON.parse(body));
  expect(second.labels).not.toEqual(first.labels);
});

test('another severity ends the alert under its former labels in the same post', async () => {
  await using server = await answeringWith(200, {});
  const now = 1_795_305_600_000;
  const sink = open(server.url, {}, () => now);
  await sink.deliver(alertEvent({ severity: 'warning' }));
  await sink.deliver(alertEvent({ severity: 'critical' }));
  await sink.deliver(resolvedEvent({ severity: 'info' }));
  const [, escalated, resolved] = server.received.map(({ body }) => JSON.parse(body));
  const ended = new Date(now).toISOString();
  expect(escalated).toMatchObject([
    { labels: { severity: 'critical' }, endsAt: new Date(now + 300_000).toISOString() },
    { labels: { severity: 'warning' }, endsAt: ended },
  ]);
  expect(resolved).toContainEqual(expect.objectContaining({ labels: escalated[0].labels, endsAt: ended }));
});

test('open alerts are sent again each minute while time flows, and not while it stands', async () => {
  await using server = await answeringWith(200, {});
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let flows = true;
  const alerts = Array.from({ length: 250 }, (_, n) => openAlert(n));
  const openFor = (sink: string) => (sink === 'am' ? alerts : []);
  await using _running = await open(server.url).run?.({ logger: quiet, openFor, timeFlows: () => flows });
  vi.advanceTimersByTime(59_999);
  expect(server.received).toEqual([]);
  vi.advanceTimersByTime(1);
  await vi.waitFor(() => expect(server.received).toHaveLength(2), 30_000);
  expect(server.received.flatMap(({ body }) => JSON.parse(body))).toHaveLength(250);
  flows = false;
  vi.advanceTimersByTime(600_000);
  expect(server.received).toHaveLength(2);
});

test('a repetition leaves out an alert whose end was posted, even while the list of open alerts still has it', async () => {
  await using server = await answeringWith(200, {});
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const sink = open(server.url);
  const late = openAlert(1);
  const openFor = () => [late, openAlert(2)];
  await using _running = await sink.run?.({ logger: quiet, openFor, timeFlows: () => true });
  const end = sink.deliver(resolvedEvent({ alertId: late.alertId }));
  vi.advanceTimersByTime(60_000);
  await end;
  await vi.waitFor(() => expect(server.received).toHaveLength(2), 30_000);
  const [ended, repeated] = server.received.map(({ body }) => JSON.parse(body));
  expect(ended).toHaveLength(1);
  expect(repeated).toMatchObject([{ labels: { alert_key: openAlert(2).alertKey } }]);
});

test('429 and 503 are waited out, 400 is a permanent refusal, and the token is never shown', async () => {
  await using busy = await answeringWith(503, {}, { 'retry-after': '5' });
  expect(await failureOf(open(busy.url).deliver(alertEvent()))).toMatchObject({ name: 'TryLater', afterMs: 5000 });
  await using limited = await answeringWith(429, {});
  expect(await failureOf(open(limited.url).deliver(alertEvent()))).toBeInstanceOf(TryLater);
  await using refusing = await answeringWith(400, { code: 400, message: 'invalid label set' });
  const error = await failureOf(open(refusing.url, { token_env: 'TOKEN' }).deliver(alertEvent()));
  expect(refusing.received[0]?.headers.authorization).toBe('Bearer hunter2');
  expect(error).toBeInstanceOf(Undeliverable);
  expect((error as Error).message).not.toContain('hunter2');
});

const BINARY = 'prometheus-alertmanager';
const isInstalled = spawnSync(BINARY, ['--version']).status === 0;

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
};

test.skipIf(!isInstalled)(
  `a real Alertmanager takes an alert, keeps one for its repetitions, and ends it (needs ${BINARY})`,
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'vigil-alertmanager-'));
    const file = path.join(folder, 'config.yml');
    writeFileSync(file, 'route: { receiver: none }\nreceivers: [{ name: none }]\n');
    const port = await freePort();
    const child = spawn(
      BINARY,
      [
        `--config.file=${file}`,
        `--storage.path=${folder}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--cluster.listen-address=',
      ],
      { stdio: 'ignore' },
    );
    const url = `http://127.0.0.1:${port}`;
    const alerts = async (): Promise<readonly { labels: object; annotations: { title: string } }[]> =>
      (await fetch(`${url}/api/v2/alerts?active=true`)).json() as never;
    try {
      await vi.waitFor(async () => expect((await fetch(`${url}/-/ready`)).ok).toBe(true), 60_000);
      const sink = open(url);
      await sink.deliver(alertEvent());
      await sink.deliver(alertEvent({ text: 'still no call' }));
      await vi.waitFor(async () => expect(await alerts()).toHaveLength(1), 60_000);
      expect((await alerts())[0]).toMatchObject({
        labels: { alertname: 'stuck_agent', task: 'OMN-1234' },
        annotations: { text: 'still no call' },
      });
      await sink.deliver(resolvedEvent());
      await vi.waitFor(async () => expect(await alerts()).toEqual([]), 60_000);
    } finally {
      child.kill();
      await new Promise((resolve) => child.once('exit', resolve));
      rmSync(folder, { recursive: true, force: true });
    }
  },
  120_000,
);
