import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { TryLater, Undeliverable } from '../delivery/sink.ts';
import { pagerduty } from './pagerduty.ts';
import {
  alertEvent,
  answeredEvent,
  answeringWith,
  brakeAlert,
  countEvent,
  escalation,
  failureOf,
  resolvedEvent,
  severalQuestions,
  sinkDeps,
} from './sinks.fixture.ts';

const KEY = 'R0UT1NGK3Yhunter2';
const accepted = { status: 'success', message: 'Event processed', dedup_key: 'x' };
const open = (url: string) =>
  pagerduty.open('pager', pagerduty.settings.parse({ kind: 'pagerduty', url, routing_key_env: 'PD_KEY' }), {
    ...sinkDeps,
    env: { PD_KEY: KEY },
  });

test('an alert triggers one incident, its end resolves the same one, under the same routing key', async () => {
  await using server = await answeringWith(202, accepted);
  const sink = open(server.url);
  await sink.deliver(alertEvent());
  await sink.deliver(alertEvent({ text: 'still no call' }));
  await sink.deliver(resolvedEvent());
  const dedup_key = alertEvent().payload.alertId;
  const events = server.received.map(({ body }) => JSON.parse(body));
  expect(server.received.map(({ path }) => path)).toEqual(Array(3).fill('/v2/enqueue'));
  expect(events).toMatchObject([
    {
      ...{ routing_key: KEY, event_action: 'trigger', dedup_key, client: 'Vigil' },
      payload: { summary: 'worker-1 is STUCK', source: 'worker-1', severity: 'warning', class: 'stuck_agent' },
    },
    { event_action: 'trigger', dedup_key },
    { routing_key: KEY, event_action: 'resolve', dedup_key },
  ]);
});

test('a question has a link for each choice, its deadline, and what happens then', async () => {
  await using server = await answeringWith(202, accepted);
  await open(server.url).deliver(escalation());
  const { links, payload } = JSON.parse(server.received[0]?.body ?? '');
  expect(links.map(({ text }: { text: string }) => text)).toEqual(['Allow more time', 'Pardon']);
  expect(payload).toMatchObject({ severity: 'critical', custom_details: { on_timeout: 'terminate' } });
});

test('a summary has at most 1,024 characters, and nothing that controls a terminal', async () => {
  await using server = await answeringWith(202, accepted);
  await open(server.url).deliver(alertEvent({ title: `\u001b[2J${'x'.repeat(5000)}` }));
  const { summary } = JSON.parse(server.received[0]?.body ?? '').payload;
  expect(summary).toHaveLength(1024);
  expect(summary).not.toContain('\u001b');
});

test('429 is waited out, and an invalid event is a permanent error without the key', async () => {
  await using limited = await answeringWith(429, { status: 'throttle exceeded' }, { 'retry-after': '30' });
  expect(await failureOf(open(limited.url).deliver(alertEvent()))).toMatchObject({ name: 'TryLater', afterMs: 30_000 });
  await using away = await answeringWith(503, {});
  expect(await failureOf(open(away.url).deliver(alertEvent()))).toBeInstanceOf(TryLater);
  await using invalid = await answeringWith(400, { status: 'invalid event', errors: ['routing_key is invalid'] });
  const error = await failureOf(open(invalid.url).deliver(alertEvent()));
  expect(error).toBeInstanceOf(Undeliverable);
  expect((error as Error).message).not.toContain('hunter2');
});

test('an acknowledgement in Vigil acknowledges the incident', async () => {
  await using server = await answeringWith(202, accepted);
  const { alertId } = alertEvent().payload;
  await open(server.url).acknowledge?.(example(Topic.alert, 'ALERT_ACKNOWLEDGED', { alertId, by: 'ada' }));
  expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({
    ...{ routing_key: KEY, event_action: 'acknowledge', dedup_key: alertId },
  });
});

test('the pardon of an agent acknowledges its incident and triggers nothing, and the end resolves it', async () => {
  await using server = await answeringWith(202, accepted);
  const sink = open(server.url);
  const actions = () => server.received.map(({ body }) => JSON.parse(body).event_action);
  await sink.deliver(escalation());
  await sink.deliver(answeredEvent());
  expect(JSON.parse(server.received[1]?.body ?? '')).toEqual({
    ...{ routing_key: KEY, event_action: 'acknowledge', dedup_key: alertEvent().payload.alertId },
  });
  await sink.deliver(resolvedEvent());
  expect(actions()).toEqual(['trigger', 'acknowledge', 'resolve']);
});

test('another answer acknowledges nothing, because the alert is still repeated', async () => {
  await using server = await answeringWith(202, accepted);
  await open(server.url).deliver(
    answeredEvent({ title: 'worker-1: allow more time, decided by ada', isPardoned: false }),
  );
  expect(server.received.map(({ body }) => JSON.parse(body).event_action)).toEqual(['trigger']);
});

test('what has no link for a choice has one to the page: the brake, and several questions', async () => {
  await using server = await answeringWith(202, accepted);
  const sink = open(server.url);
  await sink.deliver(brakeAlert());
  await sink.deliver(severalQuestions());
  const [brake, questions] = server.received.map(({ body }) => JSON.parse(body));
  const href = 'http://127.0.0.1:7420/#/inbox';
  expect(brake.links).toEqual([{ href, text: 'Lift it on the page' }]);
  expect(brake.payload.custom_details.text).toContain('to be lifted by `vigil brake lift`');
  expect(questions.links).toEqual([{ href, text: 'Answer on the page' }]);
});

test('another count of a group sends nothing, as it would page people again after they have resolved the incident', async () => {
  await using server = await answeringWith(202, accepted);
  const sink = open(server.url);
  await sink.deliver(countEvent());
  expect(server.received).toEqual([]);
  await sink.deliver(countEvent({ isQuiet: false }));
  expect(server.received).toHaveLength(1);
});

test('an incident that begins after the pardon is triggered and acknowledged', async () => {
  await using server = await answeringWith(202, accepted);
  await open(server.url).deliver(alertEvent({ isPardoned: true }));
  expect(server.received.map(({ body }) => JSON.parse(body).event_action)).toEqual(['trigger', 'acknowledge']);
});
