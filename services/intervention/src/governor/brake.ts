import { NEVER } from '@vigil/stream';
import { bytesOf, bytesOfAll } from './bytes.ts';
import { type LiveAgents, livingIn, type Place } from './places.ts';
import { AWAITED_BYTES, CRASH_WAIT_MS, type GovernorSettings, MOST_AWAITED_BYTES } from './settings.ts';
import {
  type AwaitedAgent,
  type Brake,
  covers,
  type GovernorState,
  type Incident,
  incidentsOf,
  type Loss,
  type LossCount,
  type StepRequest,
} from './state.ts';

/**
 * Where the brake engages now, and why; or null. An agent that still sends heartbeats never counts as lost; nor, while the brake is on, one
 * for which it has engaged already. Lost agents that do not count make the fleet no smaller within the window.
 */
export const engages = (
  { liveAgents, losses, uncounted, unnamed, brake }: GovernorState,
  settings: GovernorSettings,
  now: number,
): { readonly scope: string; readonly why: string; readonly losses: readonly Loss[] } | null => {
  const { brake: set } = settings;
  const after = now - set.windowMs;
  const recent = countedLosses(losses, brake, after);
  const more = summed(unnamed, after);
  if (recent.length + more.fleet < set.least) return null;
  const others = summed(uncounted, after);
  const engaged = (place: LossPlace): boolean => {
    const all = place.lost.length + place.count(more) + place.count(others) + place.living(liveAgents);
    const enough = Math.max(set.least, Math.ceil(all * (place.scope === 'fleet' ? set.share : set.placeShare)));
    return place.lost.length + place.count(more) >= enough;
  };
  for (const place of placesOf(recent).filter(engaged)) {
    const count = place.lost.length + place.count(more);
    const all = count + place.count(others) + place.living(liveAgents);
    const unkept = unnamed.filter((one) => one.at > after && place.holds(one));
    const scope = onlyRuntimeOf([...place.lost, ...unkept]) ?? place.scope;
    const awaited = fitting(place.lost, roomFor(scope, unfinished(brake, settings, now)));
    const why = `${count} of ${all} lost within ${set.windowMs / 1000} s (${place.scope})`;
    if (awaited.length > 0) return { scope, why, losses: awaited };
  }
  return null;
};

/** The losses after that time for which the brake has not engaged. */
export const countedLosses = (losses: readonly Loss[], brake: Brake | null, after: number): readonly Loss[] => {
  const known = new Set(incidentsOf(brake).flatMap(({ awaited }) => awaited.map(({ lossKey }) => lossKey)));
  return losses.filter(({ at, lossKey }) => at > after && !known.has(lossKey));
};

/**
 * How many more bytes of awaited agents are kept for an incident of this scope. Those of hosts and runtimes leave half
 * to the fleet: failures of many places do not prevent its brake.
 */
export const roomFor = (scope: string, incidents: readonly Incident[]): number => {
  const ofPlaces = incidents.filter((incident) => incident.scope !== 'fleet');
  const all = MOST_AWAITED_BYTES - bytesOfAwaited(incidents);
  return scope === 'fleet' ? all : Math.min(all, MOST_AWAITED_BYTES / 2 - bytesOfAwaited(ofPlaces));
};

const bytesOfAwaited = (incidents: readonly Incident[]): number =>
  incidents.reduce((sum, { awaited }) => sum + bytesOfAll(awaited), 0);

/** The first of these losses that take at most so many bytes as awaited agents. */
const fitting = (losses: readonly Loss[], room: number): readonly Loss[] => {
  let left = room;
  const beyond = losses.findIndex((loss) => {
    left -= bytesOf(loss) + AWAITED_BYTES;
    return left < 0;
  });
  return beyond < 0 ? losses : losses.slice(0, beyond);
};

/** One runtime's reports withhold nothing elsewhere: its name is verified, the hosts of its agents are not. */
const onlyRuntimeOf = (losses: readonly Pick<Loss, 'runtimeId'>[]): string | null => {
  const [runtimeId, ...others] = [...new Set(losses.map((loss) => loss.runtimeId))];
  return runtimeId === undefined || runtimeId === '' || others.length > 0 ? null : `runtime:${runtimeId}`;
};

/** Sums of losses: in all, on each host, and under each runtime. */
type Sums = {
  readonly fleet: number;
  readonly hosts: ReadonlyMap<string, number>;
  readonly runtimes: ReadonlyMap<string, number>;
};

const summed = (counts: readonly LossCount[], after: number): Sums => {
  const hosts = new Map<string, number>();
  const runtimes = new Map<string, number>();
  let fleet = 0;
  for (const { host, runtimeId, at, count } of counts) {
    if (at <= after) continue;
    fleet += count;
    hosts.set(host, (hosts.get(host) ?? 0) + count);
    runtimes.set(runtimeId, (runtimes.get(runtimeId) ?? 0) + count);
  }
  return { fleet, hosts, runtimes };
};

/** A place where agents were lost: a host, a runtime, or the fleet. `lost`: those that are kept by name. */
type LossPlace = {
  readonly scope: string;
  readonly lost: readonly Loss[];
  readonly count: (sums: Sums) => number;
  readonly living: (live: LiveAgents) => number;
  readonly holds: (one: Place) => boolean;
};

/** Hosts, then runtimes, each by name; then the fleet. */
const placesOf = (losses: readonly Loss[]): readonly LossPlace[] => [
  ...grouped(losses, ({ host }) => host).map(([host, lost]) => ({
    scope: `host:${host}`,
    lost,
    count: ({ hosts }: Sums) => hosts.get(host) ?? 0,
    living: (live: LiveAgents) => livingIn(live, { host }),
    holds: (one: Place) => one.host === host,
  })),
  ...grouped(losses, ({ runtimeId }) => runtimeId).map(([runtimeId, lost]) => ({
    scope: `runtime:${runtimeId}`,
    lost,
    count: ({ runtimes }: Sums) => runtimes.get(runtimeId) ?? 0,
    living: (live: LiveAgents) => livingIn(live, { runtimeId }),
    holds: (one: Place) => one.runtimeId === runtimeId,
  })),
  {
    scope: 'fleet',
    lost: losses,
    count: ({ fleet }) => fleet,
    living: (live) => livingIn(live, {}),
    holds: () => true,
  },
];

const grouped = (
  losses: readonly Loss[],
  nameOf: (loss: Loss) => string,
): readonly (readonly [string, readonly Loss[]])[] => {
  const byName = new Map<string, Loss[]>();
  for (const loss of losses) {
    const known = byName.get(nameOf(loss));
    if (known === undefined) byName.set(nameOf(loss), [loss]);
    else known.push(loss);
  }
  return [...byName].filter(([name]) => name !== '').sort(([a], [b]) => (a < b ? -1 : 1));
};

/**
 * From when over half of the missing of each mass failure have sent heartbeats for long enough: the brake lifts. NEVER where too few are back, 0 where
 * none is missing any more. A crashed agent counts as back after a while, since its task may go to no other agent.
 */
export const liftsFrom = (brake: Brake, settings: GovernorSettings): number => lastOver(incidentsOf(brake), settings);

/** From when the brake no longer withholds a step. An incident elsewhere does not affect it. 0: it does not withhold it. */
export const brakeFreeFrom = (brake: Brake | null, request: StepRequest, settings: GovernorSettings): number =>
  lastOver(
    incidentsOf(brake).filter((incident) => covers(incident, request)),
    settings,
  );

const lastOver = (incidents: readonly Incident[], settings: GovernorSettings): number =>
  Math.max(0, ...incidents.map((incident) => overFrom(incident.awaited, settings)));

/** Incidents that are not over. */
export const unfinished = (brake: Brake | null, settings: GovernorSettings, now: number): readonly Incident[] =>
  incidentsOf(brake).filter(({ awaited }) => overFrom(awaited, settings) > now);

const overFrom = (awaited: readonly AwaitedAgent[], { brake: { backMs } }: GovernorSettings): number => {
  if (awaited.length === 0) return 0;
  const back = awaited.map(backFrom).sort((a, b) => a - b);
  const deciding = back[Math.floor(awaited.length / 2)];
  return deciding === undefined || deciding === NEVER ? NEVER : deciding + backMs;
};

const backFrom = ({ backSince, isCrashed, at }: AwaitedAgent): number =>
  Math.min(backSince ?? NEVER, isCrashed ? at + CRASH_WAIT_MS : NEVER);
