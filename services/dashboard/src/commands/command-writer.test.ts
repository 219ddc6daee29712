import { writer } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { expect, test } from 'vitest';
import { dashboard } from '../app.fixture.ts';
import { openCommandWriter } from './command-writer.ts';

const ID = '6b1f6b6e-0c7e-4a53-9f5e-1f6f3d3a0001';
const HALT = { kind: 'halt', by: 'ada', why: 'a test' };
const NUDGE = { kind: 'request_step', agentId: 'worker-1', step: 'nudge', message: 'go on', by: 'ada', why: 'a test' };

/** Long enough on a busy machine, where the broker answers. */
const LONG_MS = 30_000;

/** A dashboard over this log, whose broker acknowledges when the test permits it. */
const opened = (log = new MemoryLog(), answers: object = {}, limitMs = LONG_MS) => {
  const broker = { isAway: false, refuses: false, back: Promise.withResolvers<void>() };
  let ids = 0;
  const write = async (records: Parameters<MemoryLog['write']>[0]) => {
    if (broker.refuses) throw new Error('the broker is shutting down');
    if (broker.isAway) await broker.back.promise;
    return log.write(records);
  };
  const out = writer({ ...pick(log), write } as never, () => 1000);
  const commands = openCommandWriter({
    log,
    writer: out,
    limitMs,
    newEventId: () => `${ID.slice(0, -1)}${++ids}`,
    onFailure: () => {},
  });
  return { ...dashboard(answers, '/no-page', { commands }), log, broker };
};

const pick = ({ codec, partitionCount }: MemoryLog) => ({ codec, partitionCount });

const ids = (log: MemoryLog) => [
  ...log.events('onex.cmd.intervention.control-fleet.v1').map(({ eventId }) => eventId),
  ...log.events('onex.cmd.intervention.decide-case.v1').map(({ eventId }) => eventId),
];

test('a command that Kafka does not acknowledge in time is answered 504, with its id and where to follow it', async () => {
  const { request, broker, log } = opened(new MemoryLog(), {}, 100);
  broker.isAway = true;
  const answer = await request('POST', '/v1/commands', HALT);
  const body = answer.json();
  expect(answer.headers['content-type']).toContain('application/problem+json');
  expect(body).toMatchObject({ status: 504, type: 'urn:vigil:not_acknowledged', eventId: ID });
  expect(body.detail).toContain(`/v1/commands/${ID}`);
  expect(body.detail).toContain('may still be applied');
  broker.back.resolve();
  await expect.poll(() => ids(log)).toEqual([ID]);
});

test('a command that Kafka fails to write is answered 504, because a part of it may be written', async () => {
  const { request, broker } = opened();
  broker.refuses = true;
  expect((await request('POST', '/v1/commands', HALT)).json()).toMatchObject({ status: 504, eventId: ID });
});

test('a retry with the same id is written once: while the first is under way, after it, and by another dashboard', async () => {
  const { request, broker, log } = opened(new MemoryLog(), {}, 100);
  broker.isAway = true;
  const retry = { ...NUDGE, eventId: ID };
  expect((await request('POST', '/v1/commands', NUDGE)).json()).toMatchObject({ status: 504, eventId: ID });
  expect((await request('POST', '/v1/commands', retry)).json()).toMatchObject({ status: 504, eventId: ID });
  broker.back.resolve();
  await expect.poll(() => ids(log)).toEqual([ID]);
  expect((await request('POST', '/v1/commands', retry)).statusCode).toBe(202);
  const other = opened(log);
  expect((await other.request('POST', '/v1/commands', retry)).json()).toMatchObject({ eventId: ID, key: 'worker-1' });
  expect(ids(log)).toEqual([ID]);
});

test('a retry of a command that was not written is written, under the same id', async () => {
  const { request, broker, log } = opened();
  broker.refuses = true;
  await request('POST', '/v1/commands', HALT);
  broker.refuses = false;
  expect((await request('POST', '/v1/commands', { ...HALT, eventId: ID })).statusCode).toBe(202);
  expect(ids(log)).toEqual([ID]);
});

test('an id is of one command: another one under it is refused, and nothing is written', async () => {
  const { request, log } = opened();
  await request('POST', '/v1/commands', { ...HALT, eventId: ID });
  const answer = await request('POST', '/v1/commands', { ...HALT, kind: 'resume', eventId: ID });
  expect(answer.json()).toMatchObject({ status: 409, type: 'urn:vigil:another_command', field: 'eventId' });
  expect(ids(log)).toEqual([ID]);
});

test('a retry of a command with an outcome is refused with where to read it', async () => {
  const { request, log } = opened(new MemoryLog(), { outcomes: async () => [{ type: 'FLEET_HALTED' }] });
  const answer = await request('POST', '/v1/commands', { ...HALT, eventId: ID });
  expect(answer.json()).toMatchObject({ status: 409, type: 'urn:vigil:already_written' });
  expect(ids(log)).toEqual([]);
});

test('an id that is not a UUID is refused', async () => {
  const { request } = opened();
  expect((await request('POST', '/v1/commands', { ...HALT, eventId: 'x' })).json()).toMatchObject({
    status: 400,
    field: 'eventId',
  });
});
