import { parseDuration, spell } from './duration.ts';

/** What two documents say differently at a place; null: it does not stand there. In words: durations as `6 min`. */
export type Difference = { readonly path: string; readonly old: string | null; readonly new: string | null };

/** What differs between two documents, by path. Durations written otherwise but equally long do not differ. */
export function differences(before: unknown, after: unknown): readonly Difference[] {
  const old = new Map(leaves(before, ''));
  const now = new Map(leaves(after, ''));
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort(byPlace);
  return paths.flatMap((path) => {
    const [a = null, b = null] = [old.get(path), now.get(path)];
    return a === b ? [] : [{ path, old: a, new: b }];
  });
}

function leaves(value: unknown, at: string): (readonly [path: string, words: string])[] {
  if (Array.isArray(value) && value.length > 0 && !value.every(isPlain))
    return value.flatMap((entry, i) => leaves(entry, `${at}[${i}]`));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[at || 'document', words(value)]];
  const fields = Object.entries(value);
  if (fields.length === 0) return [[at || 'document', 'as usual']];
  return fields.flatMap(([key, field]) => leaves(field, at === '' ? key : `${at}.${key}`));
}

const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;

function words(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'nothing' : value.map(words).join(', ');
  const ms = typeof value === 'string' ? parseDuration(value) : null;
  if (ms !== null) return spell(ms);
  if (value === true) return 'on';
  if (value === false) return 'off';
  return value === null ? 'none' : String(value);
}

/** Sections together, list entries by their number. */
const byPlace = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });
