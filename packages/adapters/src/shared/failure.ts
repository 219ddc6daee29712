import { headOf } from './calls.ts';

/** HTTP statuses of errors. Any other number of three digits is a count. */
const isErrorStatus = (status: number): boolean =>
  (status >= 400 && status <= 451) || (status >= 500 && status <= 504) || (status >= 520 && status <= 530);

/**
 * A status is at the beginning of a text, or after a word that introduces it: "status 400", "API Error: 529", "rejected
 * (429)".
 */
const STATUS =
  /(?:^\W*|\b(?:status(?:[ _]code)?|http(?:\/[\d.]+)?|error|rejected|code)["']?\s*[:=(]?\s*["']?)(\d{3})\b/gi;

/** The HTTP status in the text of an error; null without one. */
export const statusIn = (text: string): number | null => {
  const statuses = [...headOf(text).matchAll(STATUS)].map(([, digits]) => Number(digits));
  return statuses.find(isErrorStatus) ?? null;
};

/** Whether the same request may succeed after an answer of that status. */
export const isTransientStatus = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** Statuses of a limit or an overload. */
export const isLimit = (status: number | null): boolean => status === 429 || status === 503 || status === 529;

const WORDS =
  /\b(?:rate[ _-]?limit(?:ed|s)?|usage limit|quota|overloaded|(?:at|selected model is at|exhausted your) capacity|high demand|stream disconnected|too many requests|service unavailable|bad gateway|gateway time-?out)\b/i;

/** Texts of errors of unknown class and status. A number alone does not decide. */
export const isTransientText = (text: string): boolean => WORDS.test(headOf(text));

/** Units of time, as clients write them, in seconds. */
const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

const unitOf = (word: string): number => UNITS[word === 'ms' ? word : word.slice(0, 1).toLowerCase()] ?? 1;

const SPAN =
  /(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)(?![a-z])/gi;

const spanMs = (text: string): number | null => {
  const parts = [...text.matchAll(SPAN)];
  if (parts.length === 0) return null;
  return parts.reduce((sum, [, amount, unit]) => {
    const word = unit?.startsWith('milli') ? 'ms' : (unit ?? 's');
    return sum + Number(amount) * unitOf(word) * 1000;
  }, 0);
};

/** "Please retry in 31.5s", "Try again in 2 hours 5 minutes", "reset after 5h20m10s", "retry-after: 6" */
const relative = (text: string): number | null => {
  const seconds = /retry[- ]after["':=\s]+(\d+(?:\.\d+)?)(?!\s*[a-z\d:.-])/i.exec(text)?.[1];
  if (seconds !== undefined) return Number(seconds) * 1000;
  const span = /(?:retry(?:ing)?|try again|resets?) (?:in|after) ([\d.a-z\s]{1,60})/i.exec(text)?.[1];
  return span === undefined ? null : spanMs(span);
};

/** "usage limit reached|1795379441", "resetsAt": 1795379441, "resets_at=2026-11-23T05:00:00Z" */
const absolute = (text: string): number | null => {
  const epoch = /(?:\||resets?_?at["':=\s]+)(\d{10})(?!\d)/i.exec(text)?.[1];
  if (epoch !== undefined) return Number(epoch) * 1000;
  const instant = /(?:resets?|retry|again)[^\d]{0,20}(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d))/i.exec(text)?.[1];
  const parsed = Date.parse(instant ?? '');
  return Number.isNaN(parsed) ? null : parsed;
};

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

type WallClock = { readonly year: number; readonly month: number; readonly day: number; readonly minutes: number };

const wallClockAt = (at: number, zone: string): WallClock => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
  return { year, month: month - 1, day, minutes: hour * 60 + minute };
};

const asUtc = ({ year, month, day, minutes }: WallClock): number => Date.UTC(year, month, day, 0, minutes);

/** The time at which the clocks of a zone show this. */
const instantOf = (shown: WallClock, zone: string): number => {
  const guess = asUtc(shown);
  const first = guess - (asUtc(wallClockAt(guess, zone)) - guess);
  return first - (asUtc(wallClockAt(first, zone)) - guess);
};

const DAY_MS = 86_400_000;
const CLOCK =
  /resets?(?: at)? (?:([a-z]{3}) (\d{1,2}),? (?:(\d{4}),? )?(?:at )?)?(\d{1,2})(?::(\d\d))?\s?([ap]m) \(([\w/+-]+)\)/i;

/** "resets 3:45pm (Europe/Berlin)", "resets Nov 25, 3pm (UTC)": the next such time in that zone */
const byClock = (text: string, at: number): number | null => {
  const [, month, day, year, hour, minute, half, zone] = CLOCK.exec(text) ?? [];
  if (hour === undefined || zone === undefined) return null;
  const minutes = ((Number(hour) % 12) + (half?.toLowerCase() === 'pm' ? 12 : 0)) * 60 + Number(minute ?? 0);
  try {
    const today = wallClockAt(at, zone);
    if (month === undefined) {
      const shown = instantOf({ ...today, minutes }, zone);
      return shown > at ? shown : instantOf({ ...wallClockAt(at + DAY_MS, zone), minutes }, zone);
    }
    const named = {
      year: Number(year ?? today.year),
      month: MONTHS.indexOf(month.toLowerCase()),
      day: Number(day),
      minutes,
    };
    if (named.month === -1) return null;
    const shown = instantOf(named, zone);
    return year === undefined && shown < at - DAY_MS ? instantOf({ ...named, year: named.year + 1 }, zone) : shown;
  } catch {
    return null; // not a time zone
  }
};

const LOCAL_CLOCK =
  /try again at (?:([a-z]{3}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4}),? (?:at )?)?(\d{1,2}):(\d\d)\s?([ap]m)\b/i;

/** A clock shows whole minutes, so its time may be up to this long ago. */
const SHOWN_MS = 60_000;

/**
 * "or try again at 3:45 PM.", "Try again at Nov 25th, 2026 3:45 PM.": a time of the machine's clock, in the time zone
 * `zone`. A past time of day is that of the next day.
 */
export const retryAtLocal = (text: string, at: number, zone: () => string): number | null => {
  const [, month, day, year, hour, minute, half] = LOCAL_CLOCK.exec(text) ?? [];
  if (hour === undefined) return null;
  const minutes = (Number(hour) % 12) * 60 + (half?.toLowerCase() === 'pm' ? 720 : 0) + Number(minute);
  if (month !== undefined) {
    const named = { year: Number(year), month: MONTHS.indexOf(month.toLowerCase()), day: Number(day), minutes };
    return named.month === -1 ? null : instantOf(named, zone());
  }
  const today = wallClockAt(at, zone());
  const shown = instantOf({ ...today, minutes }, zone());
  return shown + SHOWN_MS > at ? shown : instantOf({ ...today, day: today.day + 1, minutes }, zone());
};

/** The largest time of ECMAScript, epoch milliseconds: no heartbeat can carry a later one. */
const LATEST = 8.64e15;

/** When a limit ends, epoch milliseconds, by the text of an error at `at`; null if the text names no time. */
export const retryAtOf = (text: string, at: number): number | null => {
  const span = relative(text);
  if (span !== null) return at + span <= LATEST ? Math.round(at + span) : null;
  return absolute(text) ?? byClock(text, at);
};
