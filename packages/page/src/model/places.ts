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
] as const;
export type ViewName = (typeof VIEWS)[number]['name'];

/** A place of the page. `id`: one row of the view, such as an agent of the fleet; null: the list */
export type Place = { readonly view: ViewName; readonly id: string | null };

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
};

/** The place of an address such as `#/fleet/worker-1`; an unknown one is the inbox. */
export const placeOf = (hash: string): Place => {
  const [, name = '', rest = ''] = /^#\/([a-z-]+)(?:\/(.+))?$/.exec(hash) ?? [];
  const view = VIEWS.find((one) => one.name === name)?.name;
  return view === undefined ? { view: 'inbox', id: null } : { view, id: rest === '' ? null : decoded(rest) };
};

/** Whether an address names no view, so that the page shows another one. */
export const isUnknownAddress = (hash: string): boolean =>
  !['', '#', '#/'].includes(hash) && !VIEWS.some(({ name }) => name === /^#\/([a-z-]+)(?:\/.+)?$/.exec(hash)?.[1]);

export const addressOf = (view: ViewName, id: string | null): string =>
  id === null ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;
