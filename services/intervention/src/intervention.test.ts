import { type Draft, Topic, type TopicName } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { stepRecord } from '@vigil/policy';
import { runProcessor, writer } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { usual } from './governor/settings.ts';
import { cases, governor } from './processors.ts';

const PARTITIONS = 2;
const until = (holds: () => unknown) => vi.waitFor(holds, { timeout: 60_000, interval: 5 });

/** Both processors on a log in memory; `tick` is the evaluator's, one second later each time. */
const world = async () => {
  let now = EXAMPLE_TIME;
  const log = new MemoryLog({ partitions: PARTITIONS, now: () => now });
  const options = { ...quiet, partitions: PARTITIONS, paceMs: 1 };
  const running = [await runProcessor(log, cases, options), await runProcessor(log, governor(usual), options)];
  const sources = Array.from({ length: PARTITIONS }, (_, p) => p);
  const tick = async (by = 1000) => {
    now += by;
    const marks = sources.flatMap((p) => [
      { topic: Topic.agentHealth, partition: p, key: `@tick/${p}`, value: null, timestamp: now },
      { topic: Topic.fleetPresence, partition: 0, key: `@tick/${p}`, value: null, timestamp: now },
    ]);
    await log.write(marks);
  };
  const types = async (...topics: TopicName[]): Promise<readonly string[]> => {
    const emitted: string[] = [];
    for (const topic of topics)
      for (let p = 0; p < (await log.partitionCount(topic)); p++)
        for (const { key, value } of log.partition(topic, p))
          if (value && !key?.startsWith('@')) emitted.push(log.codec.decode(topic, value).type);
    return emitted;
  };
  return {
    tick,
    types,
    write: (draft: Draft) => writer(log, () => now).write([draft]),
    stop: () => Promise.all(running.map((one) => one.stop())),
  };
};

test('a warrant, asked, settled, ordered, confirmed: recovery is asked once', async () => {
  const w = await world();
  await w.tick();
  const plan = [
    stepRecord({ step: 'terminate', graceMs: 1000, cleanupMs: 1000, leave: 'in_progress', release: [], requires: [] }),
    stepRecord({ step: 'recover' }),
  ];
  await w.write(example(Topic.agentHealth, 'WARRANT_FILED', { plan, voidAt: EXAMPLE_TIME + 600_000, endReason: null }));
  await until(async () => expect(await w.types(Topic.stepRuling)).toEqual(['STEP_ADMITTED']));
  await until(async () => expect(await w.types(Topic.admitStep)).toEqual(['ADMIT_STEP', 'ADMIT_STEP']));
  expect(await w.types(Topic.agentOrder)).toEqual([]);
  for (let i = 0; i < 6; i++) await w.tick();
  await until(async () => expect(await w.types(Topic.agentOrder)).toEqual(['TERMINATE_AGENT']));
  const done = { orderId: 'case-warrant-1-1', kind: 'terminate', outcome: 'done', confirmed: true } as const;
  await w.write(example(Topic.orderReceipt, 'ORDER_RECEIPT', done));
  await w.write(example(Topic.orderReceipt, 'ORDER_RECEIPT', done));
  await until(async () => expect(await w.types(Topic.recoverTask)).toEqual(['RECOVER_TASK']));
  expect(await w.types(Topic.agentIntervention)).toEqual(['CASE_OPENED', 'AGENT_TERMINATED', 'CASE_CLOSED']);
  await w.stop();
});

test('halted, a warrant opens no case and is asked about once; resumed, its case opens', async () => {
  const w = await world();
  await w.tick();
  await w.write(example(Topic.controlFleet, 'HALT_FLEET'));
  await until(async () => expect(await w.types(Topic.fleetGovernance)).toEqual(['FLEET_HALTED']));
  const found = {
    plan: [stepRecord({ step: 'alert', channel: null, severity: 'info' })],
    voidAt: EXAMPLE_TIME + 600_000,
    endReason: null,
  };
  await w.write(example(Topic.agentHealth, 'WARRANT_FILED', found));
  await until(async () => expect(await w.types(Topic.stepRuling)).toEqual(['STEP_WITHHELD']));
  await w.write(example(Topic.agentHealth, 'WARRANT_RENEWED', { ...found, suspendedBy: null }));
  expect(await w.types(Topic.agentIntervention)).toEqual([]);
  await w.write(example(Topic.controlFleet, 'RESUME_FLEET'));
  await until(async () =>
    expect(await w.types(Topic.agentIntervention)).toEqual(['CASE_OPENED', 'ALERT_REQUESTED', 'CASE_CLOSED']),
  );
  expect(await w.types(Topic.admitStep)).toEqual(['ADMIT_STEP']);
  await w.stop();
});
