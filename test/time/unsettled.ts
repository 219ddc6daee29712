import type { Clock, LogRecord } from '@vigil/stream';

type Axis = { readonly tick: number; readonly unwatched: number };
const CAP_MS = 1500;

const watched = ({ tick, unwatched }: Axis, now: number): number => tick - unwatched + Math.min(now - tick, CAP_MS);

/** A control: the time of a partition as Vigil keeps it, but that it goes on at the first mark after a gap, before anybody can be heard. */
export const unsettled = (): ((record: LogRecord) => Clock) => {
  const axes = new Map<string, Axis>();
  let now = 0;
  return ({ key, timestamp }) => {
    now = Math.max(now, timestamp);
    const own = axes.get('@tick') ?? { tick: now, unwatched: 0 };
    const mark = key?.startsWith('@tick/') ? '@tick' : key?.startsWith('@door/') ? key : null;
    if (mark !== null) axes.set(mark, { tick: now, unwatched: now - watched(axes.get(mark) ?? own, now) });
    const doors = [...axes].filter(([name]) => name !== '@tick');
    return {
      now,
      watched: watched(axes.get('@tick') ?? own, now),
      doors: Object.fromEntries(doors.map(([name, axis]) => [name.slice('@door/'.length), watched(axis, now)])),
    };
  };
};
