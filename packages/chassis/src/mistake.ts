import type { z } from 'zod';

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key], value);

const LONGEST_VALUE = 80;

/** The value that a caller gave, as JSON. A value nested some thousand times exceeds the stack. */
const shown = (value: unknown): string => {
  try {
    return (JSON.stringify(value) ?? 'undefined').slice(0, LONGEST_VALUE);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return 'a value that is nested too deep';
  }
};

const UNITS: Readonly<Record<string, readonly [one: string, more: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

/** A limit with its unit, as in `1 character`. */
const counted = (n: number | bigint, origin: string): string => {
  const [one, more] = UNITS[origin] ?? [];
  return one === undefined ? `${n}` : `${n} ${Number(n) === 1 ? one : more}`;
};

const named = (what: string): string => (/^[aeiou]/.test(what) ? `an ${what}` : `a ${what}`);

const unknownKeys = ({ keys }: { readonly keys: readonly string[] }): string =>
  keys.map((key) => JSON.stringify(key)).join(', ');

const mistakeText = (issue: z.core.$ZodIssue, value: unknown): string => {
  const isOwn = !/^(Too small|Too big|Unrecognized key|Invalid (input|option|discriminator))/.test(issue.message);
  if (isOwn) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined
        ? `is missing: give ${named(issue.expected)}`
        : `${shown(value)} is not ${named(issue.expected)}: give ${named(issue.expected)}`;
    case 'too_small':
      return `${shown(value)} is too small: give at least ${counted(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `${shown(value)} is too large: give at most ${counted(issue.maximum, issue.origin)}`;
    case 'invalid_value':
      return `${value === undefined ? 'is missing' : `${shown(value)} is unknown`}: give one of ${issue.values.join(', ')}`;
    case 'unrecognized_keys':
      return `${unknownKeys(issue)} is unknown here: leave it out, or see /v1/openapi.json`;
    case 'invalid_union':
      return !('options' in issue) || issue.options === undefined
        ? issue.message
        : `${value === undefined ? 'is missing' : `${shown(value)} is unknown`}: give one of ${issue.options.join(', ')}`;
    default:
      return issue.message;
  }
};

/**
 * What a schema refuses in an input, with the value and what to give instead. A message that the schema has of its own
 * stays.
 */
export const mistakeOf = (issue: z.core.$ZodIssue | undefined, input: unknown): string =>
  issue === undefined ? 'cannot be read' : mistakeText(issue, valueAt(input, issue.path));
