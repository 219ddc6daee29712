import type { Clock } from './decider.ts';

/** A tick vouches for at most one and a half intervals before it, so that one late tick takes nothing away. */
const CAP_INTERVALS = 1.5;
/** After a gap the clock stands still this much longer, until the watched can be heard again; milliseconds. */
const SETTLE_MS = 3000;

/** The interval of ticks where a topology names no other, milliseconds. */
export const TICK_MS = 1000;

/** One way in, and how much of `now` it was open. `tick` 0: not seen yet. `from`: it counts again from here, after a gap. */
type Axis = { readonly tick: number; readonly unwatched: number; readonly from: number };

/** The time of a partition at rest; lies with the positions. `ticks`: the latest of each source, where there are several. */
export type ClockState = {
  readonly now: number;
  readonly own: Axis;
  readonly doors: Readonly<Record<string, Axis>>;
  readonly ticks: Readonly<Record<string, number>>;
};

export const UNSEEN: Axis = { tick: 0, unwatched: 0, from: 0 };
export const START: ClockState = { now: 0, own: UNSEEN, doors: {}, ticks: {} };

const watchedOn = (axis: Axis, now: number, capMs: number): number => {
  if (axis.tick === 0) return now;
  return axis.tick - axis.unwatched + Math.min(Math.max(0, now - Math.max(axis.tick, axis.from)), capMs);
};

const tickOn = (axis: Axis, now: number, capMs: number): Axis => {
  const gap = axis.tick > 0 && now - axis.tick > capMs;
  return { tick: now, unwatched: now - watchedOn(axis, now, capMs), from: gap ? now + SETTLE_MS : axis.from };
};

const capOf = (intervalMs: number) => intervalMs * CAP_INTERVALS;

/** A record of the input that carries time: `now` moves, never backwards. */
export const pass = (clock: ClockState, timestamp: number): ClockState =>
  timestamp <= clock.now ? clock : { ...clock, now: timestamp };

/** A tick of the only source: somebody was watching. */
export const tick = (clock: ClockState, timestamp: number, intervalMs: number): ClockState => {
  const now = Math.max(clock.now, timestamp);
  return { ...clock, now, own: tickOn(clock.own, now, capOf(intervalMs)) };
};

/** A tick of one of several sources: time is the smallest of their latest, once all have been seen. */
export const tickOf = (
  clock: ClockState,
  source: string,
  timestamp: number,
  sources: number,
  intervalMs: number,
): ClockState => {
  const ticks = { ...clock.ticks, [source]: Math.max(timestamp, clock.ticks[source] ?? 0) };
  const latest = Object.values(ticks);
  const smallest = latest.length < sources ? 0 : Math.min(...latest);
  return smallest > clock.own.tick ? tick({ ...clock, ticks }, smallest, intervalMs) : { ...clock, ticks };
};

/** A door says that it is open. A new door's clock begins where that of the partition stands, and settles first. */
export const doorOpen = (clock: ClockState, door: string, timestamp: number): ClockState => {
  const now = Math.max(clock.now, timestamp);
  const known = clock.doors[door];
  const first = (): Axis => ({
    tick: now,
    unwatched: now - watchedOn(clock.own, now, capOf(TICK_MS)),
    from: now + SETTLE_MS,
  });
  const axis = known === undefined ? first() : tickOn(known, now, capOf(TICK_MS));
  return { ...clock, now, doors: { ...clock.doors, [door]: axis } };
};

/** What a decider sees of it. */
export const timeOf = (clock: ClockState, intervalMs: number): Clock => ({
  now: clock.now,
  watched: watchedOn(clock.own, clock.now, capOf(intervalMs)),
  doors: Object.fromEntries(
    Object.entries(clock.doors).map(([door, axis]) => [door, watchedOn(axis, clock.now, capOf(TICK_MS))]),
  ),
});
