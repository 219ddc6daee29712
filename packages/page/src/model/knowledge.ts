import type { Knowledge } from '@vigil/read-model';

/** The connection of the page. `lostSince`: epoch milliseconds; null: the dashboard answers. */
export type Connection = { readonly lostSince: number | null; readonly detail: string };

export const CONNECTED: Connection = { lostSince: null, detail: '' };

/** Since when changes may be missing, epoch milliseconds; null: the page is current. */
export const blindSinceOf = (knowledge: Knowledge | null, { lostSince }: Connection): number | null => {
  const since = [knowledge?.blindSince ?? null, lostSince].filter((at) => at !== null);
  return since.length === 0 ? null : Math.min(...since);
};

/** The note beside an answer that is given while the page is blind: Vigil decides by the present state. Null: the page is current. */
export const oldStateText = (isBlind: boolean): string | null =>
  isBlind
    ? 'The shown state may be old. The command is written, and takes effect when Vigil works again. It is refused if the state has changed.'
    : null;

/** A state that may have changed since is not shown as the present one. */
export const stateText = (state: string, isNow: boolean): string => (isNow ? state : `was ${state}`);
