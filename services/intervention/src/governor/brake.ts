import { NEVER } from '@vigil/stream';
import { livingIn } from './living.ts';
import { CRASH_WAIT_MS, type GovernorSettings } from './settings.ts';
import {
  type AwaitedAgent,
  type Brake,
  covers,
  type GovernorState,
  type Incident,
  incidentsOf,
  type Loss,
  type StepRequest,
} from './state.ts';

/**
 * Where the brake engages now, and why; or null. An agent that still sends heartbeats never counts as lost; nor, while the brake is on, one
 * for which it has engaged already. Lost agents that do not count make the fleet no smaller within the window.
 */
export const engages = (
  { liveAgents, losses, uncounted, brake }: GovernorState,
  { brake: set }: GovernorSettings,
  now: number,
): { readonly scope: string; readonly why: string; readonly losses: readonly Loss[] } | null => {
  const known = new Set(incidentsOf(brake).flatMap(({ awaited }) => awaited.map(({ lossKey }) => lossKey)));
  const recent = losses.filter(({ at, lossKey }) => at > now - set.windowMs && !known.has(lossKey));
  if (recent.length < set.least) return null;
  const fleet = { scope: 'fleet', of: recent, place: {} };
  const places = [...placesOf(recent, 'host', 'host'), ...placesOf(recent, 'runtimeId', 'runtime'), fleet];
  for (const { scope, of, place } of places) {
    const all = of.length + uncountedIn(uncounted, place, now - set.windowMs) + livingIn(liveAgents, place);
    const enough = Math.max(set.least, Math.ceil(all * (scope === 'fleet' ? set.share : set.placeShare)));
    if (of.length >= enough) {
      const within = onlyRuntimeOf(of) ?? scope;
      return {
        scope: within,
        why: `${of.length} of ${all} lost within ${set.windowMs / 1000} s (${scope})`,
        losses: of,
      };
    }
  }
  return null;
};

/** One runtime's reports withhold nothing elsewhere: its name is verified, the hosts of its agents are not. */
const onlyRuntimeOf = (losses: readonly Loss[]): string | null => {
  const [runtimeId, ...others] = [...new Set(losses.map((loss) => loss.runtimeId))];
  return runtimeId === undefined || runtimeId === '' || others.length > 0 ? null : `runtime:${runtimeId}`;
};

const uncountedIn = (
  uncounted: GovernorState['uncounted'],
  { host, runtimeId }: Place['place'],
  after: number,
): number =>
  uncounted
    .filter((one) => one.at > after)
    .filter((one) => (host ?? one.host) === one.host && (runtimeId ?? one.runtimeId) === one.runtimeId)
    .reduce((sum, { count }) => sum + count, 0);

type Place = {
  readonly scope: string;
  readonly of: readonly Loss[];
  readonly place: { host?: string; runtimeId?: string };
};

/** `word`: of the scope, for people. */
const placesOf = (losses: readonly Loss[], field: 'host' | 'runtimeId', word: string): readonly Place[] => {
  const names = [...new Set(losses.map((loss) => loss[field]))].filter((name) => name !== '').sort();
  return names.map((name) => ({
    scope: `${word}:${name}`,
    of: losses.filter((loss) => loss[field] === name),
    place: { [field]: name },
  }));
};

/**
 * From when over half of the missing of each mass failure have beaten for long enough: the brake lifts. NEVER where too few are back, 0 where
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
