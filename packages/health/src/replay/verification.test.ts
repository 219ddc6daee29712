import { type HealthEvent, Topic } from '@vigil/events';
import type { LogRecord } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { expect, test } from 'vitest';
import { logSource, partSource } from './log-source.ts';
import { EvaluatorOnLog, judgedFleet, presetNamed, START } from './replay.fixture.ts';
import type { Span } from './source.ts';
import { joined, type Verified, verify } from './verification.ts';

const ALL: Span = { from: null, to: null, agent: null };
const { signal } = new AbortController();
const verified = async (log: MemoryLog, span: Partial<Span> = {}): Promise<Verified> =>
  verify(await logSource(log, { ...ALL, ...span }, () => {}), signal);

/** A copy of the log, with other records in place of some. */
const changed = (log: MemoryLog, change: (record: LogRecord) => readonly Pick<LogRecord, 'value'>[]): MemoryLog => {
  const copy = new MemoryLog({ partitions: 2, codec: log.codec });
  for (const topic of [Topic.policy, Topic.agentObservation, Topic.agentHealth, Topic.taskHealth, Topic.fleetPresence])
    copy.append(log.records(topic).flatMap((record) => change(record).map((one) => ({ ...record, ...one }))));
  return copy;
};
const decoded = (log: MemoryLog, { topic, key, value }: LogRecord) =>
  value === null || key?.startsWith('@') ? null : log.codec.decode(topic as HealthEvent['topic'], value);

const fleet = await judgedFleet([presetNamed('vigil')]);

test('stored observations give the recorded events, event for event, over a restart and a change of policies', async () => {
  const { differences, decisions, agents, observations, earlier } = await verified(fleet.log);
  expect(differences).toEqual([]);
  expect(agents).toBe(3);
  expect(decisions).toBeGreaterThan(12);
  expect(observations).toBe(60 + 5 + 29);
  expect(earlier).toEqual([]);
});

const ofParts = async (log: MemoryLog): Promise<readonly Verified[]> =>
  Promise.all([[0], [1]].map(async (part) => verify(await partSource(log, ALL, part, () => {}), signal)));

test('the partitions of a log, each alone, give the result of the whole, and none has a decision of another', async () => {
  const parts = await ofParts(fleet.log);
  expect(joined(parts)).toEqual(await verified(fleet.log));
  for (const { observations, agents } of parts) {
    expect(observations).toBeGreaterThan(0);
    expect(agents).toBeLessThan(3);
  }
});

test('a recorded decision with another field is the first difference of its agent, with the field and its position', async () => {
  const forged = changed(fleet.log, (record) => {
    const event = decoded(fleet.log, record);
    if (event?.type !== 'HEALTH_STATE_CHANGED' || record.key !== 'hangs') return [record];
    const payload = { ...(event.payload as object), reason: 'another reason' };
    return [
      {
        value: fleet.log.codec.encode({
          ...event.envelope,
          topic: record.topic,
          ...{ type: event.type, payload },
        } as never),
      },
    ];
  });
  const { differences } = await verified(forged);
  expect(joined(await ofParts(forged)).differences).toEqual(differences);
  expect(differences).toHaveLength(1);
  expect(differences[0]).toMatchObject({
    agent: 'hangs',
    position: expect.stringMatching(/^onex\.evt\.heartbeat-ingest\.agent-observation\.v1\/[01]\/\d+$/),
    reason: expect.stringMatching(/^payload\.reason: "another reason" is recorded, ".+" is decided now$/),
  });
  expect(differences[0]?.recorded?.type).toBe('HEALTH_STATE_CHANGED');
  expect(differences[0]?.decided?.type).toBe('HEALTH_STATE_CHANGED');
});

test('a decision that is not recorded, and one that is only recorded, are each a difference', async () => {
  const isFirst = (record: LogRecord) =>
    record.key === 'hangs' && decoded(fleet.log, record)?.type === 'HEALTH_STATE_CHANGED';
  const without = await verified(changed(fleet.log, (record) => (isFirst(record) ? [] : [record])));
  expect(without.differences).toMatchObject([
    { agent: 'hangs', recorded: null, reason: 'HEALTH_STATE_CHANGED is decided now, and is not recorded' },
  ]);
  let left = 5;
  const silent = changed(fleet.log, (record) => {
    if (record.topic !== Topic.agentObservation || record.key !== 'hangs') return [record];
    left -= 1;
    return left >= 0 && left < 4 ? [{ value: null }] : [record];
  });
  const { differences } = await verified(silent);
  expect(differences).toHaveLength(1);
  expect(differences[0]?.agent).toBe('hangs');
});

test('a span compares the decisions in it, both ends included', async () => {
  const whole = await verified(fleet.log);
  const at = fleet.log.events(Topic.agentHealth).map(({ occurredAt }) => occurredAt);
  const last = Math.max(...at);
  const upTo = await verified(fleet.log, { to: last - 1 });
  const from = await verified(fleet.log, { from: last });
  expect(upTo.differences).toEqual([]);
  expect(from.differences).toEqual([]);
  expect(upTo.decisions + from.decisions).toBe(whole.decisions);
  expect(from.decisions).toBeGreaterThan(0);
});

test('one agent is compared alone, and the others are not decoded', async () => {
  const { agents, observations, differences } = await verified(fleet.log, { agent: 'hangs' });
  expect({ agents, observations, differences }).toEqual({ agents: 1, observations: 5, differences: [] });
});

test('an observation that cannot be read is counted, as the evaluator made a dead letter of it', async () => {
  const on = new EvaluatorOnLog(1);
  await on.use(presetNamed('demo'));
  await on.start();
  await on.pass(3, (second) => {
    on.heartbeat('a', second + 1);
    on.log.publishRaw(Topic.agentObservation, 'a', Buffer.from('no event'));
  });
  await on.stop();
  expect(await verified(on.log)).toMatchObject({ unreadable: 3, observations: 3, differences: [] });
});

test('an agent that was known before the first stored record is named and not compared; a later one is', async () => {
  const on = new EvaluatorOnLog(1);
  await on.use(presetNamed('demo'));
  await on.start();
  await on.pass(10, (second) => on.heartbeat('early', second + 1));
  const deleted = on.log.records(Topic.agentObservation).length;
  await on.pass(10, (second) => on.heartbeat('late', second + 1));
  await on.stop();
  const bounds = async (topic: string) =>
    (await on.log.bounds(topic)).map((range) =>
      topic === Topic.agentObservation ? { ...range, low: deleted } : range,
    );
  const { log } = on;
  const cut = { ...log, codec: log.codec, bounds } as never;
  const source = await logSource(cut, ALL, () => {});
  const { earlier, agents, differences } = await verify(source, signal);
  expect({ earlier, agents, differences }).toEqual({ earlier: ['early'], agents: 1, differences: [] });
});

/** An evaluator with agents that report. It continues each time when a reader asks for the ends of a topic. */
const judgingOn = async () => {
  const on = new EvaluatorOnLog(2);
  await on.use(presetNamed('demo'));
  await on.start();
  let sequence = 0;
  const passing = () =>
    on.pass(12, () => {
      sequence += 1;
      for (const agent of ['a', 'b', 'c']) if (agent !== 'a' || sequence % 24 < 8) on.heartbeat(agent, sequence);
    });
  await passing();
  const { log } = on;
  const bounds = async (topic: string) => {
    const found = await log.bounds(topic);
    await passing();
    return found;
  };
  const stableEnds = async (topic: string) => {
    await passing();
    return log.stableEnds(topic);
  };
  const live = { ...log, codec: log.codec, bounds, stableEnds } as never as MemoryLog;
  return { on, live };
};

test('an evaluator that decides during the comparison has no difference', async () => {
  const { on, live } = await judgingOn();
  const { differences, decisions } = await verified(live);
  await on.stop();
  expect(differences).toEqual([]);
  expect(decisions).toBeGreaterThan(3);
});

test('decisions on observations that the evaluator has not read are newer, and are not differences', async () => {
  const on = new EvaluatorOnLog(1);
  await on.use(presetNamed('demo'));
  await on.start();
  await on.pass(3, (second) => on.heartbeat('a', second + 1));
  await on.stop();
  const { decisions } = await verified(on.log);
  await on.pass(20);
  on.heartbeat('late', 1);
  const { differences, newer, ...behind } = await verified(on.log);
  expect(differences).toEqual([]);
  expect(behind.decisions).toBe(decisions);
  expect(newer).toBeGreaterThan(1);
});

test('a log without the policies that it names is refused with the name', async () => {
  const without = changed(fleet.log, (record) => (record.topic === Topic.policy ? [] : [record]));
  await expect(verified(without)).rejects.toThrow(/the recorded policy demo \([0-9a-f]+\) is not published/);
});

test('the time of the first decision is that of the log', async () => {
  const [first] = fleet.log.events(Topic.agentHealth);
  expect(first?.occurredAt).toBeGreaterThan(START);
});
