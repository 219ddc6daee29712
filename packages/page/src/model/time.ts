import { spell } from '@vigil/policy';

const DAY_MS = 86_400_000;

/** `2 min 3 s`, never negative: two clocks may differ. Times are epoch milliseconds. */
export const ageText = (now: number, at: number): string => spell(Math.max(0, now - at));

/** `14:03:10`; with its date where that is not today's. `offsetMinutes`: minutes to be added to UTC. */
export const clockTime = (now: number, at: number, offsetMinutes: number): string => {
  const local = (ms: number) => new Date(ms + offsetMinutes * 60_000).toISOString();
  const text = local(at);
  const isToday = Math.abs(now - at) < DAY_MS && local(now).slice(0, 10) === text.slice(0, 10);
  return isToday ? text.slice(11, 19) : `${text.slice(0, 10)} ${text.slice(11, 19)}`;
};

/** `14:03`, on any day. */
export const timeOfDay = (at: number, offsetMinutes: number): string => clockTime(at, at, offsetMinutes).slice(0, 5);

/** `11-22 14:03`: with its month and day. */
const dayTime = (at: number, offsetMinutes: number): string =>
  new Date(at + offsetMinutes * 60_000).toISOString().slice(5, 16).replace('T', ' ');

const MINUTE_MS = 60_000;

/** The times of an axis: with seconds where a step is not whole minutes long, with the day from a day on. A text that is equal to the one before it is left out. */
export const axisTimes = (moments: readonly number[], offsetMinutes: number): string[] => {
  const [first = 0, second = first] = moments;
  const spanMs = (moments.at(-1) ?? first) - first;
  const isExact = second - first >= 5 * MINUTE_MS || moments.every((at) => at % MINUTE_MS === 0);
  const textOf = (at: number): string => {
    if (spanMs >= DAY_MS) return dayTime(at, offsetMinutes);
    return isExact ? timeOfDay(at, offsetMinutes) : clockTime(at, at, offsetMinutes);
  };
  const texts = moments.map(textOf);
  return texts.map((text, i) => (text === texts[i - 1] ? '' : text));
};

/** `in 45 s`, `now` or `-`. */
export const untilText = (now: number, at: number | null): string => {
  if (at === null) return '-';
  return at <= now ? 'now' : `in ${spell(Math.ceil((at - now) / 1000) * 1000)}`;
};

/** The time left until a deadline. */
export type Countdown = { readonly text: string; readonly urgency: 'calm' | 'soon' | 'now' | 'over' };

const SOON_MS = 300_000;
const NOW_MS = 60_000;

/** Rounded up to whole seconds, so that "1 s" is the last text before "over". */
export const countdown = (now: number, deadlineAt: number): Countdown => {
  const left = deadlineAt - now;
  if (left <= 0) return { text: 'over', urgency: 'over' };
  const text = spell(Math.ceil(left / 1000) * 1000);
  return { text, urgency: left <= NOW_MS ? 'now' : left <= SOON_MS ? 'soon' : 'calm' };
};
