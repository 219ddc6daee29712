import { NEVER } from '@vigil/stream';

/** A person keeps the agent from being judged. `until` null: until released. `mark`: where it ends on the watched axis, as far as is known. `over`: released. */
export type Hold = { readonly until: number | null; readonly mark: number; readonly over: boolean };

/** Until when a hold lasts, on `now`'s axis; in the past, and 0: it does not. */
export const holdUntil = (held: Hold | null): number => (held === null || held.over ? 0 : (held.until ?? NEVER));

/** Whether a hold lasts at a moment. One whose time has run out is over, though no person has released it. */
export const isOnHold = (held: Hold | null, now: number): boolean => holdUntil(held) > now;
