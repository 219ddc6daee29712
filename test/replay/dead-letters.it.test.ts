import { registerSchema, registryFrom, schemaOf, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import type { DeadLetterRow } from '@vigil/read-model';
import { type LogRecord, partitionOf } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSystem, ownServers, type TestSystem, until } from '../support/system.ts';

/** Their heartbeats need a schema that is registered too late. */
const LATE = ['late-1', 'late-2', 'late-3'];
/** No repair makes a heartbeat of its record. */
const SPOILED = 'spoiled';

/** How many schemas are registered before the one that is missing. */
const AHEAD = 20;

const SUBJECT = 'replay-test-value';

type Answer = {
  readonly dry_run: boolean;
  readonly letters: readonly { readonly id: string; readonly key: string; readonly refusal: string | null }[];
};

/** The value under another schema, whose last field is null. */
const underSchema = (value: Buffer, id: number): Buffer => {
  const changed = Buffer.concat([value, Buffer.from([0])]);
  changed.writeInt32BE(id, 1);
  return changed;
};

describe.skipIf(!ownServers)('vigil replay dead-letters', () => {
  let on: TestSystem;
  let letters: readonly DeadLetterRow[];
  let lateId: number;

  /** While a service is not ready, an answer is complete, and its code is 2, because Vigil is blind. */
  const json = async <T>(...args: readonly string[]): Promise<T> => {
    const { code, stdout, stderr } = await on.vigil(...args, '--json');
    expect(code, stderr).toBe(stderr.startsWith('vigil: BLIND') ? 2 : 0);
    return JSON.parse(stdout) as T;
  };
  const replay = (...args: readonly string[]) => json<Answer>('replay', 'dead-letters', ...args);

  /** The schema of a heartbeat with one more field, which is null. */
  const register = (field: string): Promise<number> => {
    const { fields, ...rest } = JSON.parse(schemaOf(Topic.heartbeat, 'HEARTBEAT').json);
    const schema = { ...rest, fields: [...fields, { name: field, type: ['null', 'string'], default: null }] };
    return registerSchema(registryFrom(on.servers.env), SUBJECT, JSON.stringify(schema));
  };

  const write = (key: string, value: Buffer) =>
    on.log
      .partitionCount(Topic.heartbeat)
      .then((count) => on.log.write([{ topic: Topic.heartbeat, partition: partitionOf(key, count), key, value }]));

  const lateHeartbeat = (agent: string): Buffer => {
    const payload = { agent_id: agent, verified: null, timestamp: Date.now() };
    return underSchema(on.log.codec.encode(example(Topic.heartbeat, 'HEARTBEAT', payload)), lateId);
  };

  /** The records of the agents, without ticks. */
  const heartbeats = async (): Promise<readonly LogRecord[]> =>
    (await on.records(Topic.heartbeat)).filter(({ key }) => key !== null && [...LATE, SPOILED].includes(key));
  /** The records beside the dead letters that these were replayed. */
  const marks = async (): Promise<readonly LogRecord[]> =>
    (await on.records(Topic.dlqHeartbeatIngest)).filter(({ key }) => key?.startsWith('@replayed/'));
  const observed = async () =>
    (await on.events(Topic.agentObservation)).filter(({ type }) => type === 'AGENT_HEARTBEAT').map(({ key }) => key);

  beforeAll(async () => {
    on = await openSystem({ name: 'dead-letters', services: ['heartbeat-ingest', 'projector', 'dashboard'] });
    // The registry counts its ids. Systems of other tests share it, and may register schemas meanwhile.
    lateId = (await register('first')) + AHEAD;
    for (const agent of LATE) await write(agent, lateHeartbeat(agent));
    await write(SPOILED, Buffer.from('I am fine'));
    letters = await until('all dead letters are listed', async () => {
      const listed = await json<readonly DeadLetterRow[]>('dlq', 'list', '--service', 'heartbeat-ingest');
      return listed.length === LATE.length + 1 && listed;
    });
  });
  afterAll(async () => on?.stop());

  test('each unreadable record is listed with its reason, and is shown with its beginning', async () => {
    const { stdout } = await on.vigil('dlq', 'list');
    expect(stdout.match(/unknown_schema_id/g)).toHaveLength(LATE.length);
    const spoiled = letters.find(({ reason }) => reason === 'not_json') as DeadLetterRow;
    const one = await on.vigil('dlq', 'show', spoiled.eventId);
    expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining('I am fine') });
    expect(one.stdout).toContain(SPOILED);
  });

  test('before the fault is repaired every one is refused with the reason, and nothing is written', async () => {
    const { letters: answered } = await replay();
    expect(answered.map(({ key }) => key).toSorted()).toEqual([...LATE, SPOILED]);
    for (const { key, refusal } of answered)
      expect(refusal).toContain(key === SPOILED ? 'it would be a dead letter again' : `no Avro schema ${lateId}`);
    expect(await heartbeats()).toHaveLength(LATE.length + 1);
  });

  describe('after the fault is repaired', () => {
    beforeAll(async () => {
      for (let id = 0, at = 0; id < lateId; at += 1) id = await register(`more_${at}`);
      // Otherwise it looks for the absent schema again after a minute.
      const ingest = on.system.service('heartbeat-ingest');
      const before = ingest.pid();
      ingest.kill('SIGTERM');
      await until('another process runs', async () => ![null, before].includes(ingest.pid()));
    });

    test('a dry run lists what it would write, and writes nothing', async () => {
      const { dry_run, letters: answered } = await replay('--dry-run', '--reason', 'unknown_schema_id');
      expect(dry_run).toBe(true);
      expect(answered.map(({ key, refusal }) => [key, refusal]).toSorted()).toEqual(LATE.map((key) => [key, null]));
      expect([await heartbeats(), await marks()].map(({ length }) => length)).toEqual([LATE.length + 1, 0]);
    });

    test('one that is named by its id is written under its key, and its agent is observed', async () => {
      const [{ id } = { id: '' }] = (await replay('--dry-run', '--key', 'late-1')).letters;
      expect(letters.map(({ eventId }) => eventId)).toContain(id);
      expect((await replay(id)).letters).toMatchObject([{ id, key: 'late-1', refusal: null }]);
      const [first, second, ...more] = (await heartbeats()).filter(({ key }) => key === 'late-1');
      expect(more).toEqual([]);
      expect(second).toMatchObject({ value: first?.value, partition: first?.partition });
      expect(second?.headers).toEqual({ replayed: id, moved: String(first?.timestamp) });
      await until('late-1 is observed', async () => (await observed()).includes('late-1'));
    });

    test('the others are written at the given rate, without the one that was', async () => {
      const { letters: answered } = await replay('--service', 'heartbeat-ingest', '--since', '1h', '--rate', '1');
      const refusals = new Map(answered.map(({ key, refusal }) => [key, refusal]));
      expect([refusals.get('late-2'), refusals.get('late-3')]).toEqual([null, null]);
      expect(refusals.get('late-1')).toMatch(/^it was replayed at /);
      expect(refusals.get(SPOILED)).toContain('it would be a dead letter again');
      const written = (await heartbeats()).filter(({ headers }) => 'replayed' in headers);
      expect(written.map(({ key }) => key).toSorted()).toEqual(LATE);
      const at = new Map(written.map(({ key, timestamp }) => [key, timestamp]));
      expect(Math.abs((at.get('late-3') ?? 0) - (at.get('late-2') ?? 0))).toBeGreaterThanOrEqual(900);
      await until('all are observed', async () => new Set(await observed()).size === LATE.length);
    });

    test('a second replay writes nothing, and no agent is observed twice', async () => {
      const { letters: answered } = await replay('--reason', 'unknown_schema_id');
      expect(answered).toHaveLength(LATE.length);
      for (const { refusal } of answered) expect(refusal).toMatch(/^it was replayed at /);
      expect(await heartbeats()).toHaveLength(2 * LATE.length + 1);
      expect(await marks()).toHaveLength(LATE.length);
      expect((await observed()).toSorted()).toEqual(LATE);
    });

    test('an unknown id is refused with the id, and filters that match no dead letter are not an error', async () => {
      const { code, stderr } = await on.vigil('replay', 'dead-letters', 'onex.dlq.nobody/0/17');
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining('unknown dead letter: onex.dlq.nobody/0/17'),
      });
      expect((await replay('--topic', Topic.agentHealth)).letters).toEqual([]);
    });
  });
});
