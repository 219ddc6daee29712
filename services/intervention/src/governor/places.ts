import { type Counts, countOf, NO_COUNTS, withCount } from './counts.ts';
import { LONGEST_PLACE, MOST_PLACES_BYTES } from './settings.ts';

/** Where an agent runs. An empty name is not a place. */
export type Place = { readonly host: string; readonly runtimeId: string };

/**
 * How many agents are present: in all, under any runtime, on each host, and under each runtime. Their names are with the
 * evaluator, which reports for each change where the agent was counted before. `bytes`: of the two tables.
 */
export type LiveAgents = {
  readonly total: number;
  readonly supervised: number;
  readonly bytes: number;
  readonly hosts: Counts;
  readonly runtimes: Counts;
};

export const NO_AGENTS: LiveAgents = { total: 0, supervised: 0, bytes: 0, hosts: NO_COUNTS, runtimes: NO_COUNTS };

/** A place without a name, or with one too long to be stored, has none. */
export const placeName = (name: string | null | undefined): string =>
  name === null || name === undefined || jsonBytes(name) > LONGEST_PLACE ? '' : name;

/** Without its quotes. A control character takes six bytes. */
const jsonBytes = (name: string): number => Buffer.byteLength(JSON.stringify(name)) - 2;

type Reported = { readonly host: string | null; readonly runtimeId: string | null };

export const placeOf = ({ host, runtimeId }: Reported): Place => ({
  host: placeName(host),
  runtimeId: placeName(runtimeId),
});

/** The counts after an agent's place has changed; null: it was or is nowhere. */
export const moved = (live: LiveAgents, from: Place | null, to: Place | null): LiveAgents => {
  if (from !== null && to !== null && from.host === to.host && from.runtimeId === to.runtimeId) return live;
  const left = from === null ? live : counted(live, from, -1);
  return to === null ? left : counted(left, to, 1);
};

const counted = (live: LiveAgents, { host, runtimeId }: Place, by: 1 | -1): LiveAgents => {
  const hosts = added(live.hosts, host, by, live.bytes);
  const runtimes = added(live.runtimes, runtimeId, by, hosts.bytes);
  return {
    total: Math.max(0, live.total + by),
    supervised: Math.max(0, live.supervised + (runtimeId === '' ? 0 : by)),
    bytes: runtimes.bytes,
    hosts: hosts.counts,
    runtimes: runtimes.counts,
  };
};

/** A place without agents is forgotten. One that does not fit is not counted: the brake then engages there sooner, not later. */
const added = (
  counts: Counts,
  name: string,
  by: 1 | -1,
  bytes: number,
): { readonly counts: Counts; readonly bytes: number } => {
  const before = countOf(counts, name);
  const after = before + by;
  if (name === '' || after < 0) return { counts, bytes };
  const size = jsonBytes(name) + COUNT_BYTES;
  const more = (before === 0 ? size : 0) - (after === 0 ? size : 0);
  return more > 0 && bytes + more > MOST_PLACES_BYTES
    ? { counts, bytes }
    : { counts: withCount(counts, name, after), bytes: bytes + more };
};

/** The quotes of the name, and a count of up to seven digits with its colon and comma. */
const COUNT_BYTES = 11;

/** How many are present: in all, on one host, or under one runtime. */
export const livingIn = (live: LiveAgents, place: Partial<Place>): number => {
  if (place.host !== undefined) return countOf(live.hosts, place.host);
  return place.runtimeId === undefined ? live.total : countOf(live.runtimes, place.runtimeId);
};

/** Whether another runtime has agents. One that does not fit counts as another. */
export const hasOthersThan = (live: LiveAgents, runtimeId: string): boolean =>
  live.supervised > countOf(live.runtimes, runtimeId);
