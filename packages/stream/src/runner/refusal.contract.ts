import { expect, test } from 'vitest';
import { listening } from './processors.fixture.ts';
import { type LogFactory, PARTITIONS, start, T, testBed, until } from './runner.fixture.ts';

/** The states and topics that the processor runner refuses, in memory and on Kafka. */
export const refusalContract = ({ log: open, topics }: LogFactory): void => {
  test('a position outside its topic is refused with the numbers, code 2', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    const snapshot = `onex.snapshot.${w.run}.state.v1`;
    const clock = { now: T, own: { tick: 0, unwatched: 0, from: 0 }, ingresses: {}, ticks: {} };
    await log.write([
      {
        topic: snapshot,
        partition: 2,
        key: `@position/${w.run}.in`,
        value: Buffer.from(JSON.stringify({ next: 999, clock })),
      },
    ]);
    await using running = await start(log, listening(w.run));
    await expect(running.finished).rejects.toMatchObject({
      name: 'Refused',
      exitCode: 2,
      message: expect.stringMatching(/999 of .*\/2 is outside \[0, 0\]/),
    });
    w.stop();
  });

  test('states without a position are refused, and so is a state of a newer shape', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    const snapshot = `onex.snapshot.${w.run}.state.v1`;
    const first = await start(log, listening(w.run, { atRest: { oldest: 2, upgrades: [], usual: null } }));
    await w.write(w.heartbeat('a', 1));
    await until(() => expect(w.emitted()).toHaveLength(1));
    await first.stop();
    await using older = await start(log, listening(w.run));
    await expect(older.finished).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('shape 2') });
    await older.stop();
    const lone = await testBed(log, await topics(PARTITIONS));
    const state = Buffer.alloc(64);
    state.writeUInt16BE(1); // the shape of the fixture
    await log.write([{ topic: snapshot.replace(w.run, lone.run), partition: 0, key: 'a', value: state }]);
    await using running = await start(log, listening(lone.run));
    await expect(running.finished).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('no position'),
    });
    w.stop();
    lone.stop();
  });

  test('a snapshot with another partition count is refused, because its keys are in other partitions now', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    const clock = { now: T, own: { tick: 0, unwatched: 0, from: 0 }, ingresses: {}, ticks: {} };
    const position = { next: 0, clock, partitions: PARTITIONS / 2 };
    const value = Buffer.from(JSON.stringify(position));
    const snapshot = `onex.snapshot.${w.run}.state.v1`;
    await log.write([{ topic: snapshot, partition: 0, key: `@position/${w.run}.in`, value }]);
    await using running = await start(log, listening(w.run));
    await expect(running.finished).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/\/0 was written under 2 partitions, and now there are 4/),
    });
    w.stop();
  });

  test('inputs of different partition counts are refused, and so is a missing topic', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    const narrow = await topics(1);
    const reads = [`${w.run}.in`, `${narrow}.in`] as never;
    await expect(start(log, listening(w.run, { reads }))).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('has 1'),
    });
    await expect(start(log, listening(w.run, { writes: ['vigil.not.there'] as never }))).rejects.toMatchObject({
      exitCode: 2,
    });
    w.stop();
  });
};
