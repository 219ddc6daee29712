import type { Clock } from '../processor/decider.ts';

/** A tick covers at most one and a half intervals before it, so that one late tick loses no watched time. */
const CAP_INTERVALS = 1.5;
/** After a gap the clock stands still this much longer, until agents can report again; milliseconds. */
const SETTLE_MS = 3000;

/**
 * The largest number of ingresses. Any writer of the topic can add names, and the clock is written with every commit.
 */
export const MOST_INGRESSES = 64;
/**
 * An ingress that has been closed for this long may be replaced by another, milliseconds. Its agents are forgotten a
 * day earlier, so none is judged by another clock.
 */
const CLOSED_FOR_GOOD_MS = 8 * 24 * 3_600_000;

/** A timestamp further from the clock is not accepted by itself: a broker's clock may be wrong; milliseconds. */
const LEAP_MS = 60_000;
/** A distant timestamp is accepted after timestamps have come only from there for this long; milliseconds. */
const BELIEVED_AFTER_MS = 2000;

/** The default interval of ticks, milliseconds. */
export const TICK_MS = 1000;

/**
 * One ingress. `unwatched`: the part of `now` in which it was not open. `tick`: 0 if it is not seen yet. `from`: when
 * it counts again after a gap.
 */
type Axis = { readonly tick: number; readonly unwatched: number; readonly from: number };

/**
 * A released ingress. It continues from `watched` with its family's clock, once that reaches `from`. `at`: when it was
 * released.
 */
type Released = { readonly watched: number; readonly from: number; readonly at: number };

/** The stored time of a partition, beside the positions. `ticks`: the latest of each source, if there are several. */
export type ClockState = {
  readonly now: number;
  readonly own: Axis;
  readonly ingresses: Readonly<Record<string, Axis>>;
  readonly released: Readonly<Record<string, Released>>;
  readonly ticks: Readonly<Record<string, number>>;
  /** the first of the distant timestamps that are not accepted yet; null if the last timestamp was near */
  readonly leap: number | null;
  /** the partitions to which misplaced records of this partition were moved, with the time of the last move */
  readonly movesTo: Readonly<Record<string, number>>;
};

export const UNSEEN: Axis = { tick: 0, unwatched: 0, from: 0 };
export const START: ClockState = {
  now: 0,
  own: UNSEEN,
  ingresses: {},
  released: {},
  ticks: {},
  leap: null,
  movesTo: {},
};

/** Reads a clock from its stored form. An older form lacks later fields. */
export const restored = (clock: Partial<ClockState>): ClockState => ({ ...START, ...clock });

const watchedOn = ({ tick, unwatched, from }: Axis, now: number, capMs: number): number => {
  if (tick === 0) return now - unwatched;
  return tick - unwatched + Math.min(Math.max(0, now - Math.max(tick, from)), capMs);
};

const tickOn = (axis: Axis, now: number, capMs: number): Axis => {
  const gap = axis.tick === 0 ? axis.unwatched > 0 : now - axis.tick > capMs;
  return { tick: now, unwatched: now - watchedOn(axis, now, capMs), from: gap ? now + SETTLE_MS : axis.from };
};

const capOf = (intervalMs: number) => intervalMs * CAP_INTERVALS;

/**
 * A record of the input that carries time moves `now`, and never backwards except in a leap. A leap, either way, is
 * accepted once timestamps have arrived there for two seconds. So one timestamp of a wrong broker clock moves nothing,
 * and time follows back when the clock is corrected. Time before the first tick is unwatched.
 */
export const pass = (clock: ClockState, timestamp: number): ClockState => {
  const { now, leap } = clock;
  if (now === 0 || Math.abs(timestamp - now) <= LEAP_MS)
    return moved(leap === null ? clock : { ...clock, leap: null }, timestamp);
  if (leap === null || timestamp < leap || leap > now !== timestamp > now) return { ...clock, leap: timestamp };
  if (timestamp - leap < BELIEVED_AFTER_MS) return clock;
  return moved(rewound({ ...clock, leap: null }, timestamp), timestamp);
};

const moved = (clock: ClockState, timestamp: number): ClockState => {
  const { now, own } = clock;
  if (timestamp <= now) return clock;
  const unwatched = own.tick === 0 && now > 0 ? own.unwatched + timestamp - now : own.unwatched;
  return { ...clock, now: timestamp, own: { ...own, unwatched } };
};

/** The clock set back to a moment. Its watched time does not change. */
const rewound = (clock: ClockState, to: number): ClockState => {
  const by = clock.now - to;
  if (by <= 0) return clock;
  const back = ({ tick, unwatched, from }: Axis): Axis => ({
    tick: tick === 0 ? 0 : tick - by,
    unwatched: unwatched - by,
    from: from === 0 ? 0 : from - by,
  });
  const ingresses = Object.fromEntries(Object.entries(clock.ingresses).map(([ingress, axis]) => [ingress, back(axis)]));
  const released = Object.fromEntries(
    Object.entries(clock.released).map(([ingress, one]) => [ingress, { ...one, at: one.at - by }]),
  );
  return { ...clock, now: to, own: back(clock.own), ingresses, released };
};

/** Applies a tick of the only source: the time before it was watched. */
export const tick = (clock: ClockState, timestamp: number, intervalMs: number): ClockState => {
  const at = pass(clock, timestamp);
  if (at.leap !== null) return at;
  return { ...at, own: tickOn(at.own, at.now, capOf(intervalMs)) };
};

/** Applies a tick of one of several sources. Time is the smallest of their latest ticks, once all have been seen. */
export const tickOf = (
  clock: ClockState,
  source: string,
  timestamp: number,
  sources: number,
  intervalMs: number,
): ClockState => {
  const known = clock.ticks[source] ?? 0;
  const ticks = { ...clock.ticks, [source]: known - timestamp > LEAP_MS ? timestamp : Math.max(timestamp, known) };
  const latest = Object.values(ticks);
  const smallest = latest.length < sources ? 0 : Math.min(...latest);
  const isNews = smallest > clock.own.tick || (smallest > 0 && clock.own.tick - smallest > LEAP_MS);
  return isNews ? tick({ ...clock, ticks }, smallest, intervalMs) : { ...clock, ticks };
};

/**
 * The instances of an ingress, `gateway:a` and `gateway:b`, are a family: `gateway`. It is open while one of them is.
 */
export const familyOf = (ingress: string): string => ingress.split(':', 1)[0] ?? ingress;

/**
 * An ingress reports that it is open. It and its family each have a clock: the clock of a silent instance stands still,
 * even while others are open. A new clock begins with the partition's watched time, and settles first.
 */
export const ingressOpen = (clock: ClockState, ingress: string, timestamp: number): ClockState => {
  const at = pass(clock, timestamp);
  if (at.leap !== null) return at;
  const family = opened(at, familyOf(ingress));
  return ingress === familyOf(ingress) ? family : opened(family, ingress);
};

/**
 * An ingress reports that it is closed for good: its agents are expected at the others of its family, while one of them
 * is open.
 */
export const ingressReleased = (clock: ClockState, ingress: string, timestamp: number): ClockState => {
  const at = pass(clock, timestamp);
  const [axis, family] = [named(at.ingresses, ingress), named(at.ingresses, familyOf(ingress))];
  if (axis === undefined || family === undefined || ingress === familyOf(ingress)) return at;
  const from = watchedOn(family, at.now, capOf(TICK_MS)) + SETTLE_MS;
  const released = { watched: watchedOn(axis, at.now, capOf(TICK_MS)), from, at: at.now };
  return { ...at, ingresses: without(at.ingresses, ingress), released: { ...at.released, [ingress]: released } };
};

/** Names come from outside, and one may be that of an inherited property. */
const named = <T>(all: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(all, name) ? all[name] : undefined;

const without = <T>(all: Readonly<Record<string, T>>, name: string): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(all).filter(([one]) => one !== name));

const opened = (at: ClockState, ingress: string): ClockState => {
  const cap = capOf(TICK_MS);
  const known = named(at.ingresses, ingress);
  if (known !== undefined) return { ...at, ingresses: { ...at.ingresses, [ingress]: tickOn(known, at.now, cap) } };
  const room = withRoom(at);
  if (room === null) return at;
  const before = named(room.released, ingress);
  const watched = before === undefined ? watchedOn(at.own, at.now, cap) : releasedAt(ingress, before, at);
  const first: Axis = { tick: at.now, unwatched: at.now - watched, from: at.now + SETTLE_MS };
  return { ...room, ingresses: { ...room.ingresses, [ingress]: first }, released: without(room.released, ingress) };
};

const releasedAt = (ingress: string, { watched, from }: Released, { ingresses, now }: ClockState): number => {
  const family = named(ingresses, familyOf(ingress));
  return family === undefined ? watched : watched + Math.max(0, watchedOn(family, now, capOf(TICK_MS)) - from);
};

/** Returns the ingresses with room for one more; null if all are needed. */
const withRoom = (at: ClockState): ClockState | null => {
  const isFull = ({ ingresses, released }: ClockState) =>
    Object.keys(ingresses).length + Object.keys(released).length >= MOST_INGRESSES;
  if (!isFull(at)) return at;
  const isNeeded = (since: number) => at.now - since < CLOSED_FOR_GOOD_MS;
  const ingresses = Object.fromEntries(Object.entries(at.ingresses).filter(([, axis]) => isNeeded(axis.tick)));
  const released = Object.fromEntries(Object.entries(at.released).filter(([, one]) => isNeeded(one.at)));
  const cleared = { ...at, ingresses, released };
  return isFull(cleared) ? null : cleared;
};

/**
 * Notes that a misplaced record was moved to another partition. Drops partitions without such a record for eight days.
 */
export const movedTo = (clock: ClockState, partition: number): ClockState => {
  const lately = Object.entries(clock.movesTo).filter(([, at]) => clock.now - at < CLOSED_FOR_GOOD_MS);
  return { ...clock, movesTo: { ...Object.fromEntries(lately), [partition]: clock.now } };
};

/** The clock that a decider gets. */
export const timeOf = (clock: ClockState, intervalMs: number): Clock => ({
  now: clock.now,
  watched: watchedOn(clock.own, clock.now, capOf(intervalMs)),
  ingresses: Object.fromEntries([
    ...Object.entries(clock.ingresses).map(([ingress, axis]) => [ingress, watchedOn(axis, clock.now, capOf(TICK_MS))]),
    ...Object.entries(clock.released).map(([ingress, one]) => [ingress, releasedAt(ingress, one, clock)]),
  ]),
});
