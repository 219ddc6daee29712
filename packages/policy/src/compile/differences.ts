import { parseDuration, spell } from '../values/duration.ts';

/** The values of two documents at a place, formatted for people (`6 min`); null if absent. */
export type Difference = { readonly path: string; readonly old: string | null; readonly new: string | null };

/** The differences between two documents, by path. Equal durations in different notations do not differ. */
export const differences = (before: unknown, after: unknown): readonly Difference[] => {
  const old = new Map(leaves(before, ''));
  const now = new Map(leaves(after, ''));
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort(byPlace);
  return paths.flatMap((path) => {
    const [a, b] = [old.get(path), now.get(path)];
    if (a === undefined || b === undefined) return [{ path, old: wordsOf(a), new: wordsOf(b) }];
    if (meaning(a.value) === meaning(b.value)) return [];
    const [was, is] = [words(a.value), words(b.value)];
    return [
      was === is ? { path, old: JSON.stringify(a.value), new: JSON.stringify(b.value) } : { path, old: was, new: is },
    ];
  });
};

/** `value`: the value at a place; a list of one entry equals the entry. */
type Leaf = { readonly value: unknown };

const leaves = (value: unknown, at: string): (readonly [path: string, leaf: Leaf])[] => {
  if (Array.isArray(value) && value.length > 0 && !value.every(isPlain))
    return value.flatMap((entry, i) => leaves(entry, `${at}[${i}]`));
  if (Array.isArray(value)) return [[at || 'document', { value: value.length === 1 ? value[0] : value }]];
  const fields = isPlain(value) ? [] : Object.entries(value as object);
  if (fields.length === 0) return [[at || 'document', { value }]];
  return fields.flatMap(([key, field]) => leaves(field, at === '' ? key : `${at}.${key}`));
};

const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;

const durationOf = (value: unknown): number | null => (typeof value === 'string' ? parseDuration(value) : null);

/** A text that is equal for values with the same meaning. */
const meaning = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => {
    const ms = durationOf(inner);
    return ms === null ? inner : { ms };
  });

const wordsOf = (leaf: Leaf | undefined): string | null => (leaf === undefined ? null : words(leaf.value));

const words = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? 'nothing' : value.map(words).join(', ');
  const ms = durationOf(value);
  if (ms !== null) return keepsAll(ms) ? spell(ms) : String(value).trim();
  if (value === true) return 'on';
  if (value === false) return 'off';
  if (typeof value === 'object') return value === null ? 'none' : 'as usual';
  return String(value);
};

/** The usual format omits fractions of a second, and seconds from an hour on. */
const keepsAll = (ms: number): boolean => ms < 1000 || ms % (ms < HOUR_MS ? 1000 : MINUTE_MS) === 0;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Sections together, list entries by their number. */
const byPlace = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });
