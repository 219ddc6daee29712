import type { Ruling } from './open.ts';

/** Asked anew at once, a governor whose time stands still would only be late again. Milliseconds. */
export const ASK_AGAIN_MS = 10_000;

/** Why nothing follows from a ruling whose time is over. */
export const late = 'blind: the ruling came late, as the time of the governor stands still or lags';

/** Admitted when nobody was there to act: it says nothing of now. */
export const isLate = (ruling: Ruling, now: number): boolean => ruling.admitted && ruling.validUntil < now;
