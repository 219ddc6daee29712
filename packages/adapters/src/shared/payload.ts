/** Readers for untrusted JSON: a field that is missing or of another type is null, and nothing throws. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A field by its path; undefined without one. */
export const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((so, name) => (isFields(so) && Object.hasOwn(so, name) ? so[name] : undefined), value);

/** A non-empty text. */
export const textAt = (value: unknown, ...path: readonly string[]): string | null => {
  const found = at(value, ...path);
  return typeof found === 'string' && found !== '' ? found : null;
};

export const numberAt = (value: unknown, ...path: readonly string[]): number | null => {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) ? found : null;
};

/** The largest count. A larger sum would be inexact, and would not fit a heartbeat. */
const LARGEST_COUNT = 1e12;

/** A count from 0 to the largest one, else 0. */
export const countIn = (number: number | null): number =>
  number !== null && number >= 0 && number <= LARGEST_COUNT ? Math.round(number) : 0;

export const countAt = (value: unknown, ...path: readonly string[]): number => countIn(numberAt(value, ...path));

export const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};
/** An RFC 3339 time, in epoch milliseconds. */
export const instantAt = (value: unknown, ...path: readonly string[]): number | null => {
  const parsed = Date.parse(textAt(value, ...path) ?? '');
  return Number.isNaN(parsed) ? null : parsed;
};

/** One line of a stream, a transcript or a log; null: it is not a JSON object. */
export const parseLine = (line: string): Fields | null => {
  if (!line.startsWith('{')) return null;
  try {
    const parsed: unknown = JSON.parse(line);
    return isFields(parsed) ? parsed : null;
  } catch {
    return null;
  }
};

/** The value under a client's name, which may be any text, such as `constructor`. */
export const ownOf = <T>(all: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(all, name) ? all[name] : undefined;
