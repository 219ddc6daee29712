import type { Draft } from '@vigil/events';
import { Topic } from '@vigil/events';
import { EXAMPLE_TIME } from '@vigil/events/examples';
import { runProcessor, writer } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { runDeliveries } from './delivery/deliveries.ts';
import { noPolicies } from './notices/policy-alerts.ts';
import { agentMapper, alertDecider, fleetMapper, groupDecider } from './processors.ts';
import { pagerduty } from './sinks/pagerduty.ts';
import { pagerdutyServer, slackServer } from './sinks/receivers.fixture.ts';
import { sinkDeps } from './sinks/sinks.fixture.ts';
import { slack } from './sinks/slack/slack.ts';

export const END_WAIT_MS = 30_000;
export const CHANNELS = ['pager', 'chat'];

/** Alerting's own processors and deliveries, on a clock that the test moves, with servers of PagerDuty and Slack. */
export const runAlerting = async (groupWaitMs: number) => {
  await using opened = new AsyncDisposableStack();
  const pager = opened.use(await pagerdutyServer());
  const chat = opened.use(await slackServer());
  let now = EXAMPLE_TIME;
  const log = new MemoryLog({ partitions: 1, now: () => now });
  const options = { ...quiet, partitions: 1, paceMs: 5 };
  const routing = { defaults: CHANNELS, configured: ['console', ...CHANNELS] };
  const settings = { groupWaitMs, endWaitMs: END_WAIT_MS, repeatMs: 14_400_000, routing };
  opened.use(await runProcessor(log, agentMapper(noPolicies), options));
  opened.use(await runProcessor(log, fleetMapper(noPolicies), options));
  opened.use(await runProcessor(log, alertDecider(settings), options));
  opened.use(await runProcessor(log, groupDecider({ least: 10, waitMs: groupWaitMs }), options));
  const deps = { ...sinkDeps, now: () => now, env: { KEY: 'key', TOKEN: 'xoxb-token' } };
  const slackSettings = { kind: 'slack', url: chat.url, channel: 'C0123ABCD', token_env: 'TOKEN' };
  const sinks = [
    pagerduty.open(
      'pager',
      pagerduty.settings.parse({ kind: 'pagerduty', url: pager.url, routing_key_env: 'KEY' }),
      deps,
    ),
    slack.open('chat', slack.settings.parse(slackSettings), deps),
  ];
  const delivering = { now: () => now, timeFlows: () => true, random: () => 0, logger: quiet.logger, count: () => {} };
  opened.use(await runDeliveries(log, sinks, delivering));
  const { write } = writer(log, () => now);
  /** After so much time this happens. */
  const happens = async (afterMs: number, ...events: readonly Draft[]): Promise<void> => {
    now += afterMs;
    await write(events);
    await log.settled();
  };
  const passes = async (ms: number): Promise<void> => {
    now += ms;
    log.tick(Topic.notify);
    await log.settled();
  };
  const delivered = () =>
    log.events(Topic.alert).flatMap((event) => (event.type === 'ALERT_DELIVERED' ? [event.payload.sink] : []));
  const kept = opened.move();
  return { log, pager, chat, happens, passes, delivered, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
