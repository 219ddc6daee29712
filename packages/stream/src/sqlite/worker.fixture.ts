import { jsonCodec } from '../runner/processors.fixture.ts';
import { openSqliteLog } from './sqlite-log.ts';

/**
 * A process of its own for tests. It joins a group of the topic `in`. Until it is killed it commits transactions, each
 * with one record to `one` and one to `two` of the same number. Prints a line when it begins.
 */
const [, , path = ''] = process.argv;

const log = await openSqliteLog({ path, codec: jsonCodec, topics: [], now: Date.now });
await log.join({
  group: 'shared',
  topics: ['in'],
  paceMs: 10,
  held: () => [],
  onAssigned: () => {},
  onHeartbeat: () => {},
  take: async () => true,
  onSkipped: () => {},
  onLost: () => {},
});
const transactor = await log.fence('worker');
process.stdout.write('began\n');
for (let n = 0; ; n += 1) {
  const record = { partition: 0, key: String(n), value: Buffer.alloc(2000) };
  await transactor.commit([
    { ...record, topic: 'one' },
    { ...record, topic: 'two' },
  ]);
  await new Promise((resolve) => setImmediate(resolve));
}
