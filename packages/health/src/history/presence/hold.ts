import { NEVER } from '@vigil/stream';

/**
 * A hold: a person exempts the agent from judgement. `until`: null until released. `mark`: the known end on the watched
 * axis. `over`: whether it was released.
 */
export type Hold = { readonly until: number | null; readonly mark: number; readonly over: boolean };

/** The end of a hold, on `now`'s axis. It has no effect if this is 0 or in the past. */
export const holdUntil = (held: Hold | null): number => (held === null || held.over ? 0 : (held.until ?? NEVER));

/** Whether a hold is in force. An expired hold is over without a release. */
export const isOnHold = (held: Hold | null, now: number): boolean => holdUntil(held) > now;
