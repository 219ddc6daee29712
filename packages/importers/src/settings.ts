import { z } from 'zod';
import type { PolicyText } from './policy-text.ts';

/** A setting of the source that a policy cannot express, and the reason. */
export type Unmapped = { readonly path: string; readonly why: string };

/** One value of a source. `key`: as in the settings; `path`: as the source's author finds it. */
export type Given = { readonly key: string; readonly path: string; readonly value: unknown };

/**
 * A key of a source: how its value is read and written. `write` returns the reason if that value has no counterpart.
 * `from`: the origin to name in the policy's line.
 */
export type Setting = {
  readonly read: z.ZodType;
  readonly write: (to: PolicyText, value: never, from: string) => string | null | undefined;
};
/** By dotted key; `x.*` covers all keys below x. They are written in this order: a setting that overrides another comes later. */
export type Settings = Readonly<Record<string, Setting>>;

/** Reads a source's text. Values that cannot be read go to `mistakes`. */
export type Reading = (text: string, mistakes: string[]) => readonly Given[];

export const setting = <V>(
  read: z.ZodType<V>,
  write: (to: PolicyText, value: V, from: string) => string | null | undefined,
): Setting => ({ read, write });

/** Written unchanged, or as `spelled`, at one place or several. */
export const copied =
  <V>(read: z.ZodType<V>, spelled: (value: V) => unknown = (value) => value) =>
  (...targets: readonly string[]): Setting =>
    setting(read, (to, value, from) => {
      for (const target of targets) to.put(target, spelled(value), from);
    });

/** A known key that a policy cannot express. */
export const unmapped = (why: string): Setting => setting(z.unknown(), () => why);

/** For zod: `"soon" is not a number of seconds: write one like 600`. */
export const no = (what: string, like: string) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    `${JSON.stringify(input)} is not a ${what}: write one like ${like}`,
});

const amount = (unit: string) => z.number(no(`number of ${unit}`, '10')).min(0, no(`number of ${unit}`, '10'));
const whole = (least: number) =>
  z.int(no(`whole number from ${least}`, '3')).min(least, no(`whole number from ${least}`, '3'));

export const aSwitch: z.ZodType<boolean> = z.boolean(no('switch', 'true'));
export const aText: z.ZodType<string> = z.string(no('text', '"ops"')).min(1, no('text', '"ops"'));

export const flag: (...targets: readonly string[]) => Setting = copied(aSwitch);
export const count: (...targets: readonly string[]) => Setting = copied(whole(1));
export const countOrNone: (...targets: readonly string[]) => Setting = copied(whole(0));
export const seconds: (...targets: readonly string[]) => Setting = copied(amount('seconds'), (s) => `${s}s`);
export const minutes: (...targets: readonly string[]) => Setting = copied(amount('minutes'), (m) => `${m}m`);

/** Writes the given settings; a mistake is `path: what is wrong, what to write`. */
export const apply = (settings: Settings, given: readonly Given[], to: PolicyText, mistakes: string[]): Unmapped[] => {
  const left = new Map<string, string>();
  for (const { key, path } of given) if (settingOf(settings, key) === undefined) left.set(path, 'not known here');
  for (const [key, { read, write }] of Object.entries(settings))
    for (const { path, value } of given.filter((one) => matches(key, one.key))) {
      const found = read.safeParse(value);
      if (!found.success) {
        mistakes.push(...found.error.issues.map((issue) => `${path}${indexes(issue.path)}: ${issue.message}`));
        continue;
      }
      const why = write(to, found.data as never, `${path}: ${JSON.stringify(value)}`);
      if (why) left.set(below(path, key), why);
    }
  return [...left].map(([path, why]) => ({ path, why }));
};

export const settingOf = (settings: Settings, key: string): Setting | undefined =>
  Object.entries(settings).find(([known]) => matches(known, key))?.[1];

const matches = (known: string, key: string): boolean =>
  known.endsWith('.*') ? key.startsWith(known.slice(0, -1)) : key === known;

/** `x.*` is named once, as x. */
const below = (path: string, key: string): string => {
  const named = key.slice(0, -2);
  return key.endsWith('.*') ? path.slice(0, path.indexOf(named) + named.length) : path;
};

const indexes = (path: readonly PropertyKey[]): string =>
  path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');

/** The values of a nested source, by dotted key. A list is a value. */
export const valuesOf = (value: unknown, at = ''): Given[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date)
    return [{ key: at, path: at, value }];
  return Object.entries(value).flatMap(([key, inner]) => valuesOf(inner, at === '' ? key : `${at}.${key}`));
};

/**
 * A section's values, and the section itself under the key ''. So it is known even if it is empty or absent
 * (undefined).
 */
export const sectionOf = (name: string, section: unknown): Given[] => {
  const values = section === undefined ? [] : valuesOf(section);
  const inside = values.map(({ key, value }): Given => ({ key, path: `${name}.${key}`, value }));
  return [{ key: '', path: name, value: section }, ...inside];
};

/** A repeated setting is read once; two different values of it are a mistake. */
export const withoutRepeats = (given: readonly Given[], mistakes: string[]): readonly Given[] =>
  given.filter((one, i) => {
    const other = given.slice(0, i).find(({ key }) => key === one.key);
    if (other === undefined) return true;
    const [first, second] = [JSON.stringify(other.value), JSON.stringify(one.value)];
    if (first !== second) mistakes.push(`${one.path}: ${second}, but ${other.path} is ${first}: keep one of them`);
    return false;
  });
