const FIRST_MS = 1000;
const LONGEST_MS = 300_000;
/** The longest pause that a receiver may request, so that its mistake does not block its alerts for good. */
const LONGEST_REQUESTED_MS = 3_600_000;

/** Milliseconds to wait after this number of failures (1: the first): doubling to five minutes, minus a random half. */
export const backOff = (failures: number, random: () => number): number =>
  Math.round(Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS) * (1 - random() / 2));

/** The wait that a Retry-After header asks for, in seconds or as a date; null: none that can be read. */
export function retryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_REQUESTED_MS);
}
