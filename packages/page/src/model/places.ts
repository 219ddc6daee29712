/** The views, in the order of the navigation. `key`: opens it after `g`. */
export const VIEWS = [
  { name: 'inbox', title: 'Inbox', key: 'i' },
  { name: 'fleet', title: 'Fleet', key: 'f' },
  { name: 'cases', title: 'Cases', key: 'c' },
  { name: 'tasks', title: 'Tasks', key: 't' },
  { name: 'breakers', title: 'Breakers', key: 'b' },
  { name: 'alerts', title: 'Alerts', key: 'a' },
  { name: 'dead-letters', title: 'Dead letters', key: 'd' },
  { name: 'policies', title: 'Policies', key: 'p' },
  { name: 'replay', title: 'Replay', key: 'r' },
] as const;
export type ViewName = (typeof VIEWS)[number]['name'];

/**
 * A place of the page. `id`: one row of the view, such as an agent of the fleet; null: the list. `query`: what to show of it, such as
 * `at=1764252310000`; mostly empty
 */
export type Place = { readonly view: ViewName; readonly id: string | null; readonly query: string };

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
};

const ADDRESS = /^#\/([a-z-]+)(?:\/([^?]+))?(?:\?(.*))?$/;

/** The place of an address such as `#/fleet/worker-1`; an unknown one is the inbox. */
export const placeOf = (hash: string): Place => {
  const [, name = '', rest = '', query = ''] = ADDRESS.exec(hash) ?? [];
  const view = VIEWS.find((one) => one.name === name)?.name;
  if (view === undefined) return { view: 'inbox', id: null, query: '' };
  return { view, id: rest === '' ? null : decoded(rest), query };
};

/** Whether an address names no view, so that the page shows another one. */
export const isUnknownAddress = (hash: string): boolean =>
  !['', '#', '#/'].includes(hash) && !VIEWS.some(({ name }) => name === ADDRESS.exec(hash)?.[1]);

export const addressOf = (view: ViewName, id: string | null): string =>
  id === null ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;

/** The name of what is shown. The id of a replay has no meaning for people. */
export const titleOf = ({ view, id }: Place): string =>
  view === 'replay' || id === null ? (VIEWS.find(({ name }) => name === view)?.title ?? '') : id;

/** The address of a place. */
export const hashOf = ({ view, id, query }: Place): string =>
  `${addressOf(view, id)}${query === '' ? '' : `?${query}`}`;

/** The address with what to show of the place; null: that part is left out. */
export const addressWith = (
  view: ViewName,
  id: string | null,
  shown: Readonly<Record<string, string | number | null>>,
): string => {
  const parts = Object.entries(shown).flatMap(([name, value]): [string, string][] =>
    value === null ? [] : [[name, String(value)]],
  );
  return parts.length === 0 ? addressOf(view, id) : `${addressOf(view, id)}?${new URLSearchParams(parts)}`;
};

/** A time in the query of a place, epoch milliseconds. */
export const timeIn = (query: string, name: string): number | null => {
  const text = new URLSearchParams(query).get(name) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
};
