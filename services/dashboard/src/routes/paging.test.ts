import { expect, test } from 'vitest';
import { dashboard } from '../app.fixture.ts';
import { pageOf } from './paging.ts';

type Row = { readonly id: string; readonly at: number };
const keyOf = ({ at, id }: Row) => [-at, id];
const rows: readonly Row[] = [
  { id: 'a', at: 3 },
  { id: 'b', at: 2 },
  { id: 'c', at: 2 },
  { id: 'd', at: 1 },
];

/** The ids of all pages, each read from what `rowsAt` has at its time. */
const read = (limit: number, rowsAt: (page: number) => readonly Row[]): readonly string[][] => {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const { rows, next } = pageOf(rowsAt(pages.length), keyOf, { limit, cursor });
    pages.push(rows.map(({ id }) => id));
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return pages;
};

test('pages have each row once, in the order of their keys', () => {
  expect(read(3, () => rows)).toEqual([['a', 'b', 'c'], ['d']]);
  expect(read(2, () => rows.toReversed())).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

test('without a limit there is one page', () => {
  expect(pageOf(rows, keyOf, {})).toEqual({ rows, next: null });
});

test('a row that leaves between two pages, also the last one of a page, moves no other row', () => {
  expect(read(2, (page) => (page === 0 ? rows : rows.filter(({ id }) => id !== 'b')))).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

test.each(['x', '', 'bnVsbA', 'W251bGxd'])('a cursor that no answer had is refused: %j', async (cursor) => {
  const { request } = dashboard({ tasks: async () => [] });
  expect((await request('GET', `/v1/tasks?limit=1&cursor=${cursor}`)).json()).toMatchObject({
    status: 400,
    type: 'urn:vigil:bad_cursor',
  });
});

test.each([
  ['cases', 'cases', ({ id, at }: Row) => ({ caseId: id, openedAt: at, waiting: false })],
  ['alerts', 'alerts', ({ id, at }: Row) => ({ alertId: id, raisedAt: at, resolvedAt: 5 })],
  [
    'recoveries',
    'recoveries',
    ({ id, at }: Row) => ({ taskId: id, initiatedAt: at, attempt: 1, newAgentId: 'worker-1' }),
  ],
])('the pages of %s reach each of 2,500 rows once, with and without a limit', async (list, field, rowOf) => {
  const all = Array.from({ length: 2500 }, (_, n) => rowOf({ id: `row-${n}`, at: 5000 - n }));
  const reads: { after?: readonly (number | string)[]; limit: number }[] = [];
  const read = async (asked: { after?: readonly (number | string)[]; limit: number }) => {
    reads.push(asked);
    const from = asked.after === undefined ? 0 : 5001 + Number(asked.after.find((part) => Number(part) < -1));
    return all.slice(from, from + asked.limit);
  };
  const { request } = dashboard({ [list]: read });
  for (const limit of ['', '&limit=700']) {
    const found: unknown[] = [];
    let cursor = '';
    do {
      const page = (await request('GET', `/v1/${list}?${cursor}${limit}`)).json();
      found.push(...page[field]);
      cursor = page.next === null ? '' : `cursor=${page.next}`;
    } while (cursor !== '');
    expect(found).toEqual(all);
  }
  expect(Math.max(...reads.map(({ limit }) => limit)), 'a page and one row more').toBe(1001);
});

test.each([['[1]'], ['["a",1,"b"]'], ['[0,1.5,"a"]'], ['[0,1,"a\\u0000"]'], ['[0,1,"a","b"]']])(
  'a cursor of another list is refused before the read model sees it: %s',
  async (key) => {
    const { request, failures } = dashboard({ cases: async () => expect.unreachable() });
    const cursor = Buffer.from(key).toString('base64url');
    expect((await request('GET', `/v1/cases?cursor=${cursor}`)).json()).toMatchObject({ type: 'urn:vigil:bad_cursor' });
    expect(failures).toEqual([]);
  },
);

test('tasks are selected by the time of the last change of their recovery, cases by all given labels', async () => {
  const rows = [null, 10, 20].map((recoveryAt, n) => ({ taskId: `T-${n}`, agentId: null, recoveryAt }));
  const asked: object[] = [];
  const cases = async (filter: object) => {
    asked.push(filter);
    return [];
  };
  const { request } = dashboard({ tasks: async () => rows, cases });
  const found = async (query: string) =>
    (await request('GET', `/v1/tasks?${query}`)).json().tasks.map(({ taskId }: { taskId: string }) => taskId);
  expect(await found('')).toEqual(['T-0', 'T-1', 'T-2']);
  expect(await found('since=10')).toEqual(['T-1', 'T-2']);
  expect(await found('until=20')).toEqual(['T-1']);
  await request('GET', '/v1/cases?label=team=core&label=tier=1');
  expect(asked).toMatchObject([
    {
      labels: [
        ['team', 'core'],
        ['tier', '1'],
      ],
    },
  ]);
});
