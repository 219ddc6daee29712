import path from 'node:path';
import { Topic, topicNames } from '@vigil/events';
import { policiesOf, VOCABULARY } from '@vigil/health';
import { ASSIGNMENT, PRESETS, readPolicies } from '@vigil/policy';
import { type LogRecord, openFileLog } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byKey, recordedDecisions, refold } from '../support/refold.ts';
import { holds, openSystem, ownServers, type TestSystem, until } from '../support/system.ts';
import { versionsOf } from '../support/versions.ts';
import { openCollector, pathTo } from '../telemetry/collector.ts';
import { agentsActedOn } from './acted-on.fixture.ts';
import { agentsLeftAlone } from './left-alone.fixture.ts';
import { about, crashing, haveAllEnded, type Observed, readBack } from './observed.ts';

describe.skipIf(!ownServers)('the demonstration fleet, from heartbeat to the notice to people', () => {
  let system: TestSystem;
  let fleet: Awaited<ReturnType<TestSystem['fleet']>>;
  let observed: Observed;
  let collector: Awaited<ReturnType<typeof openCollector>>;

  beforeAll(async () => {
    collector = await openCollector();
    system = await openSystem({ name: 'walkthrough', env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    fleet = await system.fleet();
    await until('each agent has reached its end', () => haveAllEnded(system), 240_000);
    observed = await readBack(system);
  }, 400_000);
  afterAll(async () => {
    await system?.stop();
    collector?.[Symbol.dispose]();
  });

  agentsLeftAlone(() => observed);
  agentsActedOn(() => observed);

  test('no other agent was acted on, nothing was dead-lettered, every order has its one outcome', async () => {
    const acted = new Set(observed.of(Topic.agentIntervention).map(({ payload }) => payload.agentId));
    expect([...acted].toSorted()).toEqual([...crashing, 'hangs', 'limited', 'loops']);
    expect(await observed.rows.deadLetters({ limit: 10 })).toEqual([]);
    const commands = [
      ['case', 'list'],
      ['health', '--filter', 'unhealthy'],
    ];
    const [cases, health] = await Promise.all(commands.map((words) => observed.vigil(...words)));
    expect(cases).toEqual({ code: 0, text: 'No cases.\n' });
    // Its time may stand still for a while on a busy host, and then continues.
    await holds(async () => expect(await observed.vigil('doctor')).toMatchObject({ code: 0 }));
    const { code, text } = health ?? { text: '' };
    const unhealthy = text
      .split('\n')
      .slice(1)
      .flatMap((line) => line.match(/^\S+/)?.[0] ?? []);
    expect({ code, unhealthy }).toEqual({ code: 1, unhealthy: ['crashes-r3'] });
    const ordered = observed.of(Topic.agentOrder).map(({ payload }) => payload.orderId);
    const answered = [...observed.of(Topic.orderReceipt), ...observed.of(Topic.spawnReceipt)].map(
      ({ payload }) => payload.orderId,
    );
    expect(answered.toSorted()).toEqual(ordered.toSorted());
    const raised = observed.of(Topic.alert).filter(({ type }) => type === 'ALERT_RAISED');
    expect(new Set(raised.map(({ key }) => key)).size, 'one notification an episode').toBe(raised.length);
  });

  test('one trace leads over Kafka from a heartbeat of loops to its nudge, and to the delivery of its alert', async () => {
    const headersOf = (record: LogRecord | undefined) => record?.headers.traceparent?.split('-') ?? [];
    const nudge = about(observed, Topic.agentOrder, 'loops').find(({ type }) => type === 'NUDGE_AGENT');
    const raised = observed
      .of(Topic.alert)
      .find(({ type, payload }) => type === 'ALERT_RAISED' && payload.alertKey === 'stuck_agent:DEMO-loops');
    const [, traceId = 'none', orderSpan] = headersOf(nudge?.record);
    expect(headersOf(raised?.record)[1]).toBe(traceId);
    const heartbeats = (await system.records(Topic.heartbeat)).filter(({ key }) => key === 'loops');
    expect(heartbeats.filter((record) => headersOf(record)[1] === traceId)).toHaveLength(1);

    const spans = () => collector.spans.filter((span) => span.traceId === traceId);
    const judged = ['gateway write', 'heartbeat-ingest process', 'health-evaluator process'];
    await holds(() => {
      expect(pathTo(spans(), 'intervention-governor process')).toEqual([
        ...[...judged, 'intervention-cases process', 'intervention-governor process'],
      ]);
      expect(pathTo(spans(), 'alerting-console react')).toEqual([
        ...[...judged, 'alerting-agent process', 'alerting process', 'alerting-console react'],
      ]);
      expect(spans().find(({ spanId }) => spanId === orderSpan)?.name).toBe('intervention-cases process');
    }, 60_000);
    const known = new Set(spans().map(({ spanId }) => spanId));
    expect(spans().filter(({ parentSpanId }) => parentSpanId && !known.has(parentSpanId))).toEqual([]);
    expect(spans().filter(({ parentSpanId }) => !parentSpanId)).toMatchObject([{ name: 'gateway write' }]);
  });

  test('the events of each decider about a key are counted without gap or repeat', () => {
    const report = versionsOf(topicNames.flatMap((topic) => observed.of(topic)));
    expect(report).toMatchObject({ gaps: [], repeats: [] });
    expect(report.keys).toBeGreaterThan(20);
  });

  test('folding the stored heartbeats again gives the recorded decisions, event for event', async () => {
    const policies = policiesOf(readPolicies([PRESETS], VOCABULARY), 'demo');
    const assigned = { name: ASSIGNMENT, hash: policies.assignment.hash };
    const marks = (await system.records(Topic.agentHealth)).filter(({ key }) => key === '@policy');
    const rules = marks.map(({ value }) => JSON.parse(JSON.parse(String(value)).rules));
    expect(new Set(rules.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify([...policies.all.map(({ name, hash }) => ({ name, hash })), assigned])]),
    );
    const records = await system.records(Topic.agentObservation);
    const again = byKey(refold(system.log, policies, records));
    const recorded = byKey(
      recordedDecisions(
        [Topic.agentHealth, Topic.taskHealth, Topic.fleetPresence].flatMap((topic) => observed.of(topic)),
      ),
    );
    expect([...recorded.keys()].toSorted()).toEqual([...again.keys()].toSorted());
    for (const [key, decisions] of recorded) expect(again.get(key)?.slice(0, decisions.length)).toEqual(decisions);
  });

  test('`vigil replay export` writes what `vigil replay verify` reads, and each decision is as recorded', async () => {
    const file = path.join(system.dir, 'span.ndjson.gz');
    const exported = await system.vigil('replay', 'export', '--agent', 'loops', '--out', file, '--json');
    expect(exported).toMatchObject({ code: 0 });
    expect(JSON.parse(exported.stdout)).toMatchObject({ agents: 1, observations: expect.any(Number) });
    const verified = await system.vigil('replay', 'verify', '--file', file, '--json');
    expect(verified).toMatchObject({ code: 0 });
    expect(JSON.parse(verified.stdout)).toMatchObject({ same: true, agents: 1, differences: [] });
  });

  test.runIf(process.env.VIGIL_TEST_LOG === 'embedded')(
    '`vigil log export` copies the log in a file while it is written, with every decision',
    async () => {
      const file = path.join(system.dir, 'copy.db');
      expect(await system.vigil('log', 'export', file)).toMatchObject({ code: 0 });
      const partitions = await system.log.partitionCount(Topic.agentHealth);
      await using copy = await openFileLog({ path: file, partitions, writes: [], now: Date.now });
      const states: string[] = [];
      for (const [partition, range] of (await copy.bounds(Topic.agentHealth)).entries())
        await copy.read(
          Topic.agentHealth,
          partition,
          range,
          ({ key }) => states.push(String(key)),
          new AbortController().signal,
        );
      expect(new Set(states)).toEqual(new Set((await system.records(Topic.agentHealth)).map(({ key }) => String(key))));
      expect(await system.vigil('log', 'export', file)).toMatchObject({ code: 2 });
    },
  );

  test('at the end, the output of waits has its question and no answer', async () => {
    await fleet.stop();
    const exit = await until('the end of waits is reported', async () => {
      const observed = await system.events(Topic.agentObservation);
      return observed.find(({ key, type }) => key === 'waits' && type === 'AGENT_EXITED');
    });
    const output = (exit.payload as unknown as { lastOutput: string[] }).lastOutput.join('\n');
    expect(output).toMatch(/Overwrite it\? \[y\/N\] *$/);
    expect(output).not.toContain('answered');
  });

  test('a browser logs in by a link, receives what changes, and follows its command to the outcome', async () => {
    const { VIGIL_DASHBOARD_URL: url } = system.system.env;
    const { text } = await observed.vigil('login', '--json');
    const login = await fetch(JSON.parse(text).url, { redirect: 'manual' });
    const cookie = String(login.headers.get('set-cookie')).split(';')[0] ?? '';
    const headers = { cookie, origin: url, 'content-type': 'application/json' };
    const changes = await fetch(`${url}/v1/changes`, { headers });

    const command = { kind: 'dry_run', on: false, by: 'page', why: 'a test' };
    const written = await fetch(`${url}/v1/commands`, { method: 'POST', headers, body: JSON.stringify(command) });
    const { eventId } = (await written.json()) as { readonly eventId: string };
    const outcome = await (await fetch(`${url}/v1/commands/${eventId}?wait=30`, { headers })).json();
    const changed = { type: 'DRY_RUN_CHANGED', payload: { on: false, by: 'admin (page)' } };
    expect(outcome).toMatchObject({ outcome: 'applied', events: [changed] });

    let received = '';
    for await (const part of changes.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      received += part;
      if (received.includes(`["outcomes","${eventId}"]`)) break;
    }
    expect(received).toMatch(/^event: reset\n/);
  });

  test('a command of a person waits for its outcome, and prints it', async () => {
    const { code, text } = await observed.vigil('dry-run', 'off', '--why', 'a test');
    expect({ code, text }).toEqual({ code: 0, text: expect.stringMatching(/^Requested: dry run off\.\nDone: .+\n$/) });
  });
});
