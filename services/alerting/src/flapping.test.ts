import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { runProcessor, writer } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { runDeliveries } from './delivery/deliveries.ts';
import { noPolicies } from './notices/policy-alerts.ts';
import { agentMapper, alertDecider } from './processors.ts';
import { pagerduty } from './sinks/pagerduty.ts';
import { pagerdutyServer, slackServer } from './sinks/receivers.fixture.ts';
import { sinkDeps } from './sinks/sinks.fixture.ts';
import { slack } from './sinks/slack/slack.ts';

const FLAPS = 100;
const END_WAIT_MS = 30_000;
const CHANNELS = ['pager', 'chat'];

/** Alerting's own processors and deliveries, on a clock that the test moves, with servers of PagerDuty and Slack. */
const alerting = async (groupWaitMs: number) => {
  await using opened = new AsyncDisposableStack();
  const pager = opened.use(await pagerdutyServer());
  const chat = opened.use(await slackServer());
  let now = EXAMPLE_TIME;
  const log = new MemoryLog({ partitions: 1, now: () => now });
  const options = { ...quiet, partitions: 1, paceMs: 5 };
  const routing = { defaults: CHANNELS, configured: ['console', ...CHANNELS] };
  const settings = { groupWaitMs, endWaitMs: END_WAIT_MS, repeatMs: 14_400_000, routing };
  opened.use(await runProcessor(log, agentMapper(noPolicies), options));
  opened.use(await runProcessor(log, alertDecider(settings), options));
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
  /** After so much time the agent is in this state. */
  const turns = async (afterMs: number, to: 'STUCK' | 'HEALTHY'): Promise<void> => {
    now += afterMs;
    await write([example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { to, leftTaskId: null, endReason: null })]);
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
  return { pager, chat, turns, passes, delivered, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};

test.each([0, 30_000])(
  `${FLAPS} flaps of an agent, with a group wait of %d ms, are one incident of PagerDuty and one thread of Slack`,
  async (groupWaitMs) => {
    await using system = await alerting(groupWaitMs);
    const { pager, chat, turns, passes, delivered } = system;
    await turns(0, 'STUCK');
    await passes(groupWaitMs);
    await vi.waitFor(() => expect(delivered().toSorted()).toEqual(['chat', 'pager']), 30_000);
    for (let flap = 0; flap < FLAPS; flap += 1) {
      await turns(20_000, 'HEALTHY');
      await turns(END_WAIT_MS - 1, 'STUCK');
    }
    await turns(20_000, 'HEALTHY');
    await passes(END_WAIT_MS - 1);
    expect(pager.actions).toEqual(['trigger']);
    await passes(1);
    await vi.waitFor(() => expect(delivered()).toHaveLength(2 * CHANNELS.length), 30_000);
    expect(pager.actions).toEqual(['trigger', 'resolve']);
    expect(pager.incidents).toMatchObject([{ isOpen: false }]);
    expect(pager.dropped).toEqual([]);
    expect(chat.threads()).toEqual([expect.stringContaining('Resolved')]);
  },
  60_000,
);

test('an agent that is well for as long as an end waits, and stalls again, is another incident', async () => {
  await using system = await alerting(0);
  const { pager, chat, turns, passes, delivered } = system;
  for (const incident of [1, 2]) {
    await turns(1000, 'STUCK');
    await turns(1000, 'HEALTHY');
    await passes(END_WAIT_MS);
    await vi.waitFor(() => expect(delivered()).toHaveLength(incident * 2 * CHANNELS.length), 30_000);
  }
  expect(pager.actions).toEqual(['trigger', 'resolve', 'trigger', 'resolve']);
  expect(new Set(pager.incidents.map(({ dedupKey }) => dedupKey)).size).toBe(2);
  expect(chat.threads()).toHaveLength(2);
}, 60_000);
