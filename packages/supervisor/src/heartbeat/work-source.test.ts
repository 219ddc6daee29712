import { expect, test } from 'vitest';
import { WorkSource, workItemsIn } from './work-source.ts';

const beads = [
  { id: 'bd-1', status: 'in_progress', updated_at: '2026-02-05T10:30:00Z', comment_count: 3, title: 'more' },
  { id: 'bd-2', status: 'open', updated_at: 1_770_000_000_000, comments: [{}, {}] },
];

test('a tracker’s list is work by id, in its own spellings', () => {
  const items = workItemsIn(JSON.stringify(beads));
  const bare = { claim_refreshed_at: null };
  expect(items.get('bd-1')).toEqual({
    ...bare,
    ...{ id: 'bd-1', status: 'in_progress', updated_at: Date.UTC(2026, 1, 5, 10, 30), comment_count: 3 },
  });
  expect(items.get('bd-2')).toMatchObject({ updated_at: 1_770_000_000_000, comment_count: 2 });
  expect(workItemsIn(JSON.stringify({ issues: beads })).size).toBe(2);
});

test('empty, malformed or other output has no work items; one bad item spoils no other', () => {
  for (const text of ['', '{', '[]', 'null', '"bd-1"', '{"error":"locked"}']) expect(workItemsIn(text).size).toBe(0);
  const items = workItemsIn(
    JSON.stringify([{ status: 'open' }, 7, { id: 'bd-3', updated_at: 'yesterday', comments: -1 }]),
  );
  expect([...items.values()]).toMatchObject([{ id: 'bd-3', updated_at: null, comment_count: null }]);
});

test('of several by one id the newest counts', () => {
  const twice = [
    { ...beads[0], updated_at: 5 },
    { ...beads[0], updated_at: 9 },
    { ...beads[0], updated_at: 7 },
  ];
  expect(workItemsIn(JSON.stringify(twice)).get('bd-1')?.updated_at).toBe(9);
});

/** Runs the commands one after another, one an interval. */
const asked = async (command: readonly [string, ...string[]]) => {
  const stop = new AbortController();
  const source = new WorkSource({ command, cwd: '/', env: {}, everyMs: 5000 }, () => {});
  const running = source.run(stop.signal);
  // waits for the command that is running
  stop.abort();
  await running;
  return source;
};

test('what waits for the first answer is done with it, once by each name, and nothing waits after', async () => {
  const stop = new AbortController();
  const command = ['/bin/echo', JSON.stringify(beads)] as const;
  const source = new WorkSource({ command: [...command], cwd: '/', env: {}, everyMs: 5000 }, () => {});
  const done: unknown[] = [];
  const act = (name: string) => source.onceAsked(name, () => done.push([name, source.of('bd-1')?.status]));
  for (const name of ['one', 'two', 'one']) act(name);
  expect(done).toEqual([]);
  const running = source.run(stop.signal);
  stop.abort();
  await running;
  const known = [
    ['one', 'in_progress'],
    ['two', 'in_progress'],
  ];
  expect(done).toEqual(known);
  act('one');
  expect(done).toEqual([...known, known[0]]);
});

test('a command that fails, and one that is not there, have no work', async () => {
  expect((await asked(['/bin/echo', JSON.stringify(beads)])).of('bd-1')).toMatchObject({ status: 'in_progress' });
  expect((await asked(['/bin/echo', JSON.stringify(beads)])).of('bd-9')).toBe(null);
  expect((await asked(['/bin/sh', '-c', `echo '${JSON.stringify(beads)}'; exit 1`])).of('bd-1')).toBe(null);
  expect((await asked(['/no/such/tracker'])).of('bd-1')).toBe(null);
});
