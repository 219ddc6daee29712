import { type Order, type Paged, placeOf } from '@vigil/read-model';
import { Problem } from '../problem.ts';

/** The place of a row in its list: rows are in the order of their keys, and no two have the same. */
export type Key = readonly (number | string)[];

type Asked = { readonly limit?: number | undefined; readonly cursor?: string | undefined };
/** `next`: the cursor of the next page; null: this is the last one. */
export type Page<Row> = { readonly rows: readonly Row[]; readonly next: string | null };

const compare = (one: Key, other: Key): number => {
  const at = one.findIndex((part, index) => part !== other[index]);
  if (at === -1) return 0;
  return (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1;
};

/** It has the name of its list: a place in another list is none in this one. */
const cursorOf = (list: string, key: Key): string => Buffer.from(JSON.stringify([list, ...key])).toString('base64url');

const keyIn = (list: string, cursor: string): Key => {
  try {
    const [name, ...key] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as readonly unknown[];
    const isKey = key.every((part) => typeof part === 'string' || typeof part === 'number');
    if (name === list && isKey) return key as Key;
  } catch {
    // It is not a cursor, see below.
  }
  throw badCursor();
};

const badCursor = (): Problem =>
  new Problem(
    400,
    'bad_cursor',
    'cursor: it is not the `next` of an answer of this list: leave it out for the first page.',
    'cursor',
  );

/** Whether the read model can compare its rows with the key. */
const isPlaceIn = <Row>(order: Order<Row>, key: Key): boolean =>
  key.length === order.length &&
  order.every(([, type], index) => {
    const part = key[index];
    return type === 'bigint' ? Number.isSafeInteger(part) : typeof part === 'string' && !part.includes('\0');
  });

/**
 * The page that begins after the cursor, of a list that the read model reads page by page: `read` gives rows in this
 * order. `list`: the name of the list. Throws Problem 400.
 */
export const pageFrom = async <Row>(
  list: string,
  read: (paged: Partial<Paged> & Pick<Paged, 'limit'>) => Promise<readonly Row[]>,
  order: Order<Row>,
  { limit, cursor }: Asked & { readonly limit: number },
): Promise<Page<Row>> => {
  const after = cursor === undefined ? null : keyIn(list, cursor);
  if (after !== null && !isPlaceIn(order, after)) throw badCursor();
  // One more than the page shows whether there is another.
  const found = await read({ limit: limit + 1, ...(after === null ? {} : { after }) });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: last === undefined || found.length <= limit ? null : cursorOf(list, placeOf(order, last)) };
};

/** The page of the named list that begins after the cursor. A row that is deleted between two pages moves no other row. Throws Problem 400. */
export const pageOf = <Row>(
  list: string,
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
  { limit, cursor }: Asked,
): Page<Row> => {
  const after = cursor === undefined ? null : keyIn(list, cursor);
  const keyed = rows.map((row) => ({ row, key: keyOf(row) })).toSorted((one, other) => compare(one.key, other.key));
  const rest = after === null ? keyed : keyed.filter(({ key }) => compare(key, after) > 0);
  const page = limit === undefined ? rest : rest.slice(0, limit);
  const last = page.at(-1);
  return {
    rows: page.map(({ row }) => row),
    next: last === undefined || page.length === rest.length ? null : cursorOf(list, last.key),
  };
};
