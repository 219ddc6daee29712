import { Topic, type TopicName, topicNames } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { readConfig } from '../../packages/chassis/src/config.ts';
import type { Logger } from '../../packages/chassis/src/service.ts';
import { openTelemetry } from '../../packages/chassis/src/telemetry.ts';
import { consoleOnly } from '../../services/alerting/src/alert/routing.ts';
import { runDeliveries } from '../../services/alerting/src/delivery/deliveries.ts';
import { deliveringTo } from '../../services/alerting/src/delivery/sink.ts';
import { noPolicies } from '../../services/alerting/src/notices/policy-alerts.ts';
import { agentMapper, alertDecider } from '../../services/alerting/src/processors.ts';
import { config } from '../../services/gateway/src/config.ts';
import { openGateway } from '../../services/gateway/src/gateway.ts';
import { inForceOf, loadPolicies } from '../../services/health-evaluator/src/policies.ts';
import { evaluator } from '../../services/health-evaluator/src/processor.ts';
import { createIngest } from '../../services/heartbeat-ingest/src/processor.ts';
import { usual } from '../../services/intervention/src/governor/settings.ts';
import { cases, governor } from '../../services/intervention/src/processors.ts';
import { openCollector, pathTo } from './collector.ts';

const TOKEN = 'a-token-for-tests-only';
const env = {
  KAFKA_BROKERS: 'memory:1',
  SCHEMA_REGISTRY_URL: 'http://memory',
  VIGIL_GATEWAY_TOKEN: TOKEN,
  VIGIL_GATEWAY_NAME: 'a',
};
const policies = inForceOf(loadPolicies(undefined, { fallback: 'vigil', requestable: 'any' }));
const document = { name: 'vigil', hash: 'h1', document: '{"heartbeat":{"interval":"30s"}}', withdrawn: false };

/** The services between a heartbeat and what it causes, in this process on a log in memory. */
const openVigil = async (opened: AsyncDisposableStack) => {
  const log = new MemoryLog({ partitions: 1 });
  await log.publish(example(Topic.policy, 'POLICY_PUBLISHED', document));
  const options = { ...quiet, partitions: 1, paceMs: 1 };
  const run = async (processor: Parameters<typeof runProcessor>[1]) =>
    void opened.use(await runProcessor(log, processor, options));
  await run(createIngest(null) as never);
  await run(evaluator(() => policies, 100) as never);
  await run(cases as never);
  await run(governor(usual) as never);
  await run(agentMapper(noPolicies) as never);
  await run(alertDecider({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 3_600_000, routing: consoleOnly }) as never);
  const sinks = [deliveringTo('console', async () => {})];
  opened.use(
    await runDeliveries(log, sinks, {
      logger: quiet.logger as Logger,
      count: () => {},
      now: Date.now,
      timeFlows: () => true,
      random: () => 0,
    }),
  );
  const stop = new AbortController();
  const settings = { ...readConfig(config, env), VIGIL_GATEWAY_PORT: 0 };
  const deps = { logger: quiet.logger as Logger, count: () => {}, signal: stop.signal, now: Date.now };
  const gateway = opened.use(await openGateway(log, settings, deps));
  opened.defer(() => stop.abort());
  return { log, gateway };
};

const heartbeat = (progress: Record<string, unknown>) => ({
  agent_id: 'worker-1',
  instance_id: 'run-1',
  task_id: 'task-1',
  timestamp: new Date().toISOString(),
  phase: 'implement',
  last_tool_call: null,
  token_count: 10,
  error_count: 0,
  progress_indicator: 'step 1',
  ...progress,
});

const post = async (url: string, body: unknown): Promise<void> => {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/heartbeats`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(answer.status).toBeLessThan(300);
};

/** An agent works, then reports that it is stuck. Resolves when it is nudged and an alert is delivered. */
const getStuck = async (opened: AsyncDisposableStack): Promise<MemoryLog> => {
  const { log, gateway } = await openVigil(opened);
  await post(gateway.url, heartbeat({}));
  await post(gateway.url, heartbeat({ activity: 'stuck' }));
  const types = (topic: TopicName) => log.events(topic).map(({ type }) => type);
  await vi.waitFor(
    () => {
      expect(types(Topic.agentOrder)).toContain('NUDGE_AGENT');
      expect(types(Topic.alert)).toContain('ALERT_DELIVERED');
    },
    { timeout: 60_000, interval: 20 },
  );
  return log;
};

const headersIn = (log: MemoryLog, topic: TopicName, isOf: (key: string | null) => boolean): readonly string[] =>
  log.records(topic).flatMap(({ key, headers }) => (isOf(key) && headers.traceparent ? [headers.traceparent] : []));

test('one trace leads from the heartbeat of a stuck agent to its nudge, and to the alert that is delivered', async () => {
  using collector = await openCollector();
  let log: MemoryLog;
  {
    await using _telemetry = await openTelemetry('vigil', collector.url);
    await using opened = new AsyncDisposableStack();
    log = await getStuck(opened);
  }
  const [nudged] = headersIn(log, Topic.agentOrder, (key) => key === 'worker-1');
  const traceId = nudged?.split('-')[1];
  const heartbeats = headersIn(log, Topic.heartbeat, (key) => key === 'worker-1');
  expect(heartbeats.map((one) => one.split('-')[1])).toEqual([expect.not.stringMatching(`${traceId}`), traceId]);
  const spans = collector.spans.filter((span) => span.traceId === traceId);
  const known = new Set(spans.map(({ spanId }) => spanId));
  expect(spans.filter(({ parentSpanId }) => parentSpanId && !known.has(parentSpanId))).toEqual([]);
  expect(spans.filter(({ parentSpanId }) => !parentSpanId).map(({ name }) => name)).toEqual(['gateway write']);
  const judged = ['gateway write', 'heartbeat-ingest process', 'health-evaluator process'];
  expect(pathTo(spans, 'intervention-governor process')).toEqual([
    ...judged,
    'intervention-cases process',
    'intervention-governor process',
  ]);
  expect(pathTo(spans, 'alerting-console react')).toEqual([
    ...judged,
    'alerting-agent process',
    'alerting process',
    'alerting-console react',
  ]);
  const order = spans.find(({ spanId }) => spanId === nudged?.split('-')[2]);
  expect(order?.name).toBe('intervention-cases process');
});

test('without an endpoint no record has a trace, and nothing is exported', async () => {
  using collector = await openCollector();
  await using _telemetry = await openTelemetry('vigil', undefined);
  await using opened = new AsyncDisposableStack();
  const log = await getStuck(opened);
  for (const topic of topicNames) expect(headersIn(log, topic, () => true)).toEqual([]);
  expect(collector.spans).toEqual([]);
});
