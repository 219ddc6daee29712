import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { bundleOf } from '@vigil/dev';
import { catalogue, type TopicName } from '@vigil/events';
import { type Database, openDatabase, positions } from '@vigil/read-model';
import { dump, scratchReadModel } from '@vigil/read-model/testing';
import { type TestSystem, until } from '../support/system.ts';

export type Rows = Awaited<ReturnType<typeof dump>>;

/**
 * The offset after the last event of each partition of Vigil's topics. A complete projection has this position or a
 * later one.
 */
const endsOf = async (on: TestSystem, topics: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> => {
  const ends = new Map<string, number>();
  for (const topic of topics)
    for (const { partition, offset, key } of await on.records(topic as TopicName))
      if (!key?.startsWith('@')) ends.set(`${topic}/${partition}`, offset + 1);
  return ends;
};

/** The projector's topics: every topic of events, orders and dead letters, and no other command. */
const PROJECTED: ReadonlySet<string> = new Set(
  (Object.keys(catalogue) as TopicName[]).filter(
    (topic) => ['evt', 'dlq'].includes(catalogue[topic].kind) || topic.includes('agent-order'),
  ),
);

const behind = async (database: Database, ends: ReadonlyMap<string, number>): Promise<readonly string[]> => {
  const at = new Map((await positions(database)).map((each) => [`${each.topic}/${each.partition}`, each.offset]));
  return [...ends].filter(([key, end]) => (at.get(key) ?? 0) < end).map(([key]) => key);
};

const caughtUp = (what: string, on: TestSystem, database: Database): Promise<unknown> =>
  endsOf(on, PROJECTED).then((ends) => until(what, async () => (await behind(database, ends)).length === 0, 300_000));

/** The rows of the running projector, once it has read everything; then it is stopped. */
export const projectedRows = async (on: TestSystem): Promise<Rows> => {
  await using database = await openDatabase(on.servers.env.DATABASE_URL, () => {}, 0);
  await caughtUp('the projector has read everything', on, database);
  await on.system.service('projector').stop();
  return await dump(database);
};

/** The rows that a projector builds from the same topics in an empty database. No other projector may run. */
export const freshRows = async (on: TestSystem): Promise<Rows> => {
  process.env.DATABASE_URL = on.servers.env.DATABASE_URL;
  await using database = await scratchReadModel();
  const child = spawn(process.execPath, [bundleOf('projector')], {
    env: { ...process.env, ...on.servers.env, DATABASE_URL: database.url, VIGIL_PROBE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = createWriteStream(path.join(on.dir, 'logs', 'fresh-projector.log'));
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    await caughtUp('a fresh projector has read everything', on, database);
  } finally {
    child.kill('SIGTERM');
    await ended;
    output.end();
  }
  return await dump(database);
};
