import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { Retry } from '@vigil/stream';
import { expect, test } from 'vitest';
import { pagerduty } from '../sinks/pagerduty.ts';
import { receiver, sinkDeps } from '../sinks/sinks.fixture.ts';
import { deliver, deliveryOf } from './delivery.ts';

const MINUTE = 60_000;
const START = 1_795_305_600_000;

test('ten minutes of 429 and 503 with a restart in the middle: nothing is lost, and one alert at most is doubled', async () => {
  let now = START;
  let answers = 0;
  const accepted: string[] = [];
  const isAway = () => now < START + 10 * MINUTE;
  await using server = await receiver(({ body }, response) => {
    answers += 1;
    if (!isAway()) {
      accepted.push(JSON.parse(body).dedup_key);
      return void response.writeHead(202).end('{}');
    }
    const isLimited = answers % 2 === 0;
    response.writeHead(isLimited ? 429 : 503, isLimited ? { 'retry-after': '45' } : {}).end('{}');
  });
  const settings = pagerduty.settings.parse({ kind: 'pagerduty', url: server.url, routing_key_env: 'KEY' });
  const sink = pagerduty.open('pager', settings, { ...sinkDeps, now: () => now, env: { KEY: 'key' } });
  const delivered = new Set<string>();
  const process = () =>
    deliver(sink, { now: () => now, random: () => 0, report: async () => [], delivered: new Set(delivered) });
  const alerts = Array.from({ length: 12 }, (_, n) => ({
    ...example(Topic.alert, 'ALERT_RAISED', { alertId: `alert-${n}`, deliverAt: START, sinks: ['pager'] }),
    eventId: `event-${n}`,
  }));
  let react = process();
  let restarted = false;
  let forgotten: string | null = null;
  for (const alert of alerts) {
    for (;;) {
      const outcome = await react(alert).catch((error: unknown) => error);
      if (!restarted && now > START + 5 * MINUTE) {
        restarted = true;
        react = process();
      }
      if (!(outcome instanceof Retry)) break;
      now += outcome.afterMs ?? 0;
    }
    // The process ends after a delivery whose outcome is not written.
    if (forgotten === null) {
      forgotten = alert.eventId;
      react = process();
      await react(alert);
    } else delivered.add(deliveryOf('pager', alert.eventId));
  }
  expect(now).toBeGreaterThanOrEqual(START + 10 * MINUTE);
  expect(now).toBeLessThan(START + 20 * MINUTE);
  expect(new Set(accepted)).toEqual(new Set(alerts.map(({ payload }) => payload.alertId)));
  expect(accepted).toHaveLength(alerts.length + 1);
});
