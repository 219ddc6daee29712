import type { Probe } from './look-out.ts';

/** The dashboard in VIGIL_PROBES. */
export const DASHBOARD = 'dashboard';
/** A shorter delay of live events is not reported, milliseconds: states come from the rows. */
export const LATE_MS = 5000;

/**
 * The dashboard as a part of its own answers. It is not asked over HTTP: the answer shows that it answers. It is away only
 * while its live events are late. `ready`: whether they are read. `monotonic`: milliseconds.
 */
export const ownEvents = (ready: () => boolean, monotonic: () => number): Probe => {
  let since: number | null = null;
  return async () => {
    if (ready()) {
      since = null;
      return;
    }
    since ??= monotonic();
    const lateMs = monotonic() - since;
    if (lateMs < LATE_MS) return;
    throw new Error(
      `it answers, but its live events are ${Math.floor(lateMs / 1000)} s behind: \`vigil events tail\` and terminals wait`,
    );
  };
};
