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
