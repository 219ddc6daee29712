/** A part of Vigil that does not answer. `since`: epoch milliseconds. */
export type Away = { readonly part: string; readonly since: number; readonly detail: string };

/**
 * How old the answers are. `upTo`: the time up to which the rows are complete, epoch milliseconds; null: nothing is
 * projected yet. `blindSince`: from then on changes may be missing, epoch milliseconds; null: the answers are current.
 */
export type Knowledge = {
  readonly upTo: number | null;
  readonly blindSince: number | null;
  readonly away: readonly Away[];
};

/** Probes come each second and wait for two. What fails within this time of each other is one outage, milliseconds. */
export const SAME_OUTAGE_MS = 5000;

export const isSameOutage = (one: number, other: number): boolean => Math.abs(one - other) <= SAME_OUTAGE_MS;

/**
 * Since when a part is away whose last good answer came at `wellAt`. Rows are complete up to a moment before an outage; a
 * part that fails with them is away since then. Epoch milliseconds.
 */
export const awaySince = (upTo: number | null, wellAt: number): number =>
  upTo !== null && isSameOutage(upTo, wellAt) ? Math.min(upTo, wellAt) : wellAt;

/** A part of Vigil, as `vigil doctor` has found it. `since`: epoch milliseconds; null: it is well, or that is not known. */
type Found = {
  readonly service: string;
  readonly ready: boolean;
  readonly detail: string;
  readonly since: number | null;
};

/** The services that need Postgres. Each service needs a broker. */
const NEED_POSTGRES: ReadonlySet<string> = new Set(['projector', 'dashboard']);

const isBroker = ({ service }: Found): boolean => service === 'broker' || service.startsWith('broker ');
const isServer = (one: Found): boolean => isBroker(one) || one.service === 'postgres' || one.service === 'registry';

/** The server without which a service cannot work, if it is away. One broker that answers is enough. */
const missingServer = (service: string, parts: readonly Found[]): { name: string; since: number | null } | null => {
  const brokers = parts.filter(isBroker);
  if (brokers.length > 0 && brokers.every(({ ready }) => !ready)) {
    const known = brokers.flatMap(({ since }) => since ?? []);
    return { name: 'broker', since: known.length === 0 ? null : Math.min(...known) };
  }
  const postgres = parts.find((one) => one.service === 'postgres' && !one.ready);
  if (postgres !== undefined && NEED_POSTGRES.has(service)) return { name: 'postgres', since: postgres.since };
  return null;
};

/** It has answered, and its own outage did not begin before that of the server. */
const isVictim = ({ ready, detail, since }: Found, outage: number | null): boolean =>
  ready ||
  (detail.startsWith('not ready') &&
    (since === null || outage === null || since >= outage || isSameOutage(since, outage)));

/** A service whose server is away is not ready for that reason, and since then: it can neither read nor write. */
export const withCauses = <One extends Found>(parts: readonly One[]): readonly One[] =>
  parts.map((one) => {
    if (isServer(one)) return one;
    const missing = missingServer(one.service, parts);
    if (missing === null || !isVictim(one, missing.since)) return one;
    const detail = `not ready: it cannot work while ${missing.name} is away`;
    return { ...one, ready: false, detail, since: missing.since ?? one.since };
  });
