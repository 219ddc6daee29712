import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { type DeadLetter, Topic } from '@vigil/events';
import { partitionOf } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Received, receive } from '../support/received.ts';
import { holds, openSystem, ownServers, type TestSystem, until } from '../support/system.ts';
import { HOSTILE, heartbeat, type Input, inputs } from './inputs.ts';
import { rows } from './table.ts';

/** The jars of the local broker are the other client. They do not exist if the servers run in containers. */
const jars = path.resolve(import.meta.dirname, '../../.cache/kafka-4.2.0');
const otherClient = existsSync(jars);
if (!otherClient)
  console.warn(`bad-input: no batches of another client: ${jars} is missing, as servers run in containers`);

describe.skipIf(!ownServers)('bad input has its documented answer', () => {
  let vigil: TestSystem;
  let received: Received;
  let partitions: number;
  const idOf = (way: string, place: number) => `${way}-${place}`;
  const known = (way: string) =>
    rows.map((row, place) => ({
      row,
      id: idOf(way, place),
      input: inputs(idOf(way, place), vigil.log.codec)[row.input] as Input,
    }));

  beforeAll(async () => {
    const services = ['heartbeat-ingest', 'health-evaluator', 'projector', 'dashboard', 'gateway'] as const;
    vigil = await openSystem({ name: 'bad-input', services });
    partitions = await vigil.log.partitionCount(Topic.heartbeat);
    received = await receive(vigil, [
      Topic.agentObservation,
      Topic.agentHealth,
      Topic.dlqHeartbeatIngest,
      Topic.dlqHealthEvaluator,
    ]);
  });
  afterAll(async () => {
    received?.stop();
    await vigil?.stop();
  });

  const judged = (id: string) =>
    received.of(Topic.agentHealth).filter(({ key, type }) => key === id && type === 'INSTANCE_STARTED');
  const letters = (): readonly DeadLetter[] =>
    [...received.of(Topic.dlqHeartbeatIngest), ...received.of(Topic.dlqHealthEvaluator)].map(({ payload }) => payload);
  const reasonsOf = (key: string | null) =>
    letters()
      .filter(({ original_message }) => original_message.key === key)
      .map(({ failure_reason }) => failure_reason);
  const write = (key: string | null, value: Buffer | null, partition = partitionOf(key ?? '', partitions)) =>
    vigil.log.write([{ topic: Topic.heartbeat, partition, key, value }]);
  /** A good heartbeat of another agent in the same partition, after the bad input. */
  const goodAfter = async (id: string, key: string | null) => {
    const wanted = partitionOf(key ?? '', partitions);
    let tries = 0;
    while (partitionOf(`good-${id}-${tries}`, partitions) !== wanted) tries += 1;
    const good = `good-${id}-${tries}`;
    await write(good, Buffer.from(JSON.stringify(heartbeat(good))));
    return good;
  };
  const byOtherClient = (lines: readonly string[]) => {
    const args = [
      '-cp',
      `${jars}/*`,
      path.join(import.meta.dirname, 'Produce.java'),
      vigil.servers.env.KAFKA_BROKERS,
      Topic.heartbeat,
    ];
    execFileSync('java', args, { input: `${lines.join('\n')}\n`, stdio: ['pipe', 'ignore', 'ignore'] });
  };

  test('the inputs are exactly the lines of the table', () => {
    expect(rows.map(({ input }) => input)).toEqual(Object.keys(inputs('x', vigil.log.codec)));
  });

  test('over Kafka: each input has its answer, and a good heartbeat after each is judged', async () => {
    const sent = known('kafka').filter(({ input }) => input.codec === undefined || otherClient);
    const others: string[] = [];
    const goods: string[] = [];
    for (const { row, id, input } of sent) {
      const { key } = input.records.at(-1) as { key: string | null };
      for (const record of input.records) {
        const right = partitionOf(record.key ?? '', partitions);
        if (input.codec !== undefined) others.push(`${input.codec} ${record.key} ${record.value?.toString('base64')}`);
        else if (row.kafka.kind === 'refused') {
          await expect(write(record.key, record.value)).rejects.toThrow(/larger than the max message size|too large/i);
        } else await write(record.key, record.value, input.astray ? (right + 1) % partitions : right);
      }
      if (input.codec === undefined) goods.push(await goodAfter(id, key));
    }
    if (others.length > 0) byOtherClient(others);
    for (const { id, input } of sent) if (input.codec !== undefined) goods.push(await goodAfter(id, id));
    for (const good of goods) await until(`${good} is judged`, async () => judged(good).length === 1);
    for (const { row, id, input } of sent) {
      const { key } = input.records.at(-1) as { key: string | null };
      if (row.kafka.kind === 'taken') await until(`${row.input}: taken`, async () => judged(key as string).length > 0);
      if (row.kafka.kind === 'letter')
        await until(`${row.input}: ${row.kafka.reason}`, async () => reasonsOf(key).length > 0);
      expect([row.input, ...reasonsOf(key)]).toEqual([
        row.input,
        ...(row.kafka.kind === 'letter' ? [row.kafka.reason] : []),
      ]);
      if (row.kafka.kind === 'passed' || row.kafka.kind === 'refused') expect(judged(id)).toEqual([]);
    }
  });

  test('over HTTP: each input is answered by a problem that names field and value, or is accepted and judged', async () => {
    const { VIGIL_GATEWAY_URL: url, VIGIL_GATEWAY_TOKEN: token } = vigil.system.env;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    for (const { row, id, input } of known('http')) {
      if (row.http === null) continue;
      const values = input.bodies ?? input.records.map(({ value }) => value as Buffer<ArrayBuffer>);
      const answers: Response[] = [];
      for (const body of values) answers.push(await fetch(`${url}/v1/heartbeats`, { method: 'POST', headers, body }));
      const last = answers.at(-1) as Response;
      const body = (await last.json()) as { type?: string; field?: string | null };
      expect([row.input, last.status]).toEqual([row.input, row.http.status]);
      if (row.http.status === 202) {
        const reason = row.http.reason;
        if (reason === null)
          await until(`${row.input}: judged`, async () => judged(input.records[0]?.key as string).length > 0);
        else await until(`${row.input}: ${reason}`, async () => reasonsOf(id).includes(reason));
        continue;
      }
      expect(last.headers.get('content-type')).toContain('application/problem+json');
      expect(body).toMatchObject({ type: `urn:vigil:problem:${row.http.reason}`, field: row.http.field });
    }
  });

  test('accepted input arrives as sent: moved with its first receipt, counted once, hostile texts as texts, UNKNOWN symbols', async () => {
    const of = (input: string) => {
      const place = rows.findIndex((row) => row.input === input);
      return received
        .of(Topic.agentObservation)
        .filter(({ key }) => key === idOf('kafka', place)) as never as readonly {
        readonly payload: Readonly<Record<string, unknown>>;
        readonly occurredAt: number;
        readonly key: string;
      }[];
    };
    await holds(() => expect(of('the same heartbeat twice')).toHaveLength(2));
    expect(judged(of('the same heartbeat twice')[0]?.key as string)).toHaveLength(1);
    expect(of('hostile texts: HTML, SQL, ANSI escapes, NUL')[0]?.payload.phase).toBe(HOSTILE);
    expect(of('half a surrogate pair')[0]?.payload.phase).toBe('\ufffd');
    expect(of('fields that the schema does not have, unknown symbols')[0]?.payload).toMatchObject({
      activity: 'UNKNOWN',
    });
    const moved = of('a record in the wrong partition');
    const records = (await vigil.records(Topic.heartbeat)).filter(({ key }) => key === moved[0]?.key);
    const first = records.find(({ headers }) => headers.moved === undefined);
    const second = records.find(({ headers }) => headers.moved !== undefined);
    expect(second).toMatchObject({ partition: partitionOf(moved[0]?.key as string, partitions) });
    expect(second?.headers.moved).toBe(String(first?.timestamp));
    expect(moved[0]?.occurredAt).toBe(first?.timestamp);
  });

  test('hostile texts reach the read model, and none of them controls a terminal', async () => {
    const place = rows.findIndex(({ input }) => input.startsWith('hostile texts'));
    // Any state is accepted: it has sent one heartbeat, so it is STUCK seconds later.
    const shownOf = (agent: string) =>
      until(`${agent} is shown`, async () => {
        const { stdout } = await vigil.vigil('health', agent);
        return stdout.startsWith(`${agent} `) ? stdout : undefined;
      });
    const shown = await shownOf(idOf('kafka', place));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches the characters that must not occur
    expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
    await shownOf('constructor');
  });

  test('any amount of bad input stops neither ingest nor evaluator', async () => {
    for (let n = 0; n < 25; n += 1) await write('flood', Buffer.from([0, n]));
    for (const instance of ['1', '2'])
      await write('twin', Buffer.from(JSON.stringify(heartbeat('twin', { instance_id: instance }))));
    for (let n = 0; n < 25; n += 1)
      await write('twin', Buffer.from(JSON.stringify(heartbeat('twin', { instance_id: '1', sequence: n }))));
    await until(
      'all of it is put aside',
      async () => reasonsOf('flood').length === 25 && reasonsOf('twin').length === 25,
    );
    const announced = () => received.of(Topic.agentHealth).filter(({ type }) => type === 'DUPLICATE_INSTANCE');
    await holds(() => expect(announced().map(({ key }) => key)).toEqual(['twin']));
    for (const service of ['heartbeat-ingest', 'health-evaluator', 'projector'] as const)
      expect([service, vigil.system.service(service).restarts()]).toEqual([service, 0]);
  });
});
