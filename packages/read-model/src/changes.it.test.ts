import { expect, test } from 'vitest';
import { notify } from './apply.ts';
import { type Change, followChanges } from './changes.ts';
import { register } from './statement.ts';
import { scratchReadModel } from './testing.ts';

const halted = register(
  { topic: 'fleet', partition: 0, offset: 1, version: 1, epoch: null } as never,
  'fleet',
  'halt',
  { fleetId: 'fleet', halted: true, haltBy: 'ada', haltWhy: 'why', haltAt: 1 },
);

test('changes arrive when they are committed; after a lost connection, a reader learns that some may be missing', async () => {
  await using database = await scratchReadModel();
  const stop = new AbortController();
  const troubles: Error[] = [];
  const received: (readonly Change[] | null)[] = [];
  let wake = () => {};
  const until = async (count: number) => {
    while (received.length < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  const { listen } = followChanges(database.url, (error) => troubles.push(error), stop.signal);
  listen((changes) => {
    received.push(changes);
    wake();
  });
  await until(1);
  await database.transaction((sql) => notify(sql, [halted]));
  await until(2);
  await database.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'vigil-changes' AND datname = current_database()",
  );
  await until(3);
  await database.transaction((sql) => notify(sql, [halted]));
  await until(4);
  stop.abort();
  expect(received).toEqual([null, [['fleet', 'fleet']], null, [['fleet', 'fleet']]]);
  expect(troubles.length).toBeGreaterThan(0);
});
