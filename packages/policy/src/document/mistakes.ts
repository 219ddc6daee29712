import { z } from 'zod';
import { insteadOf } from '../values/spelling.ts';

export type Mistakes = string[];
export type Path = readonly PropertyKey[];
/** A mistake at a place of a document, with its remedy. */
export type Mistake = { readonly path: Path; readonly message: string };

const NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a section of settings',
  record: 'a section of settings',
};

/** Parses with a schema. Reports every mistake as a sentence with its remedy. */
export const reading = <S extends z.ZodType>(
  schema: S,
  written: unknown,
): { readonly value: z.output<S> } | { readonly mistakes: readonly Mistake[] } => {
  const read = schema.safeParse(written);
  if (read.success) return { value: read.data };
  return { mistakes: read.error.issues.flatMap((issue) => worded(issue, schema, written)) };
};

export const spelled = ({ path, message }: Mistake, within: Path = []): string =>
  `${place([...within, ...path])}: ${message}`;

/** `plans[0].do[1].nudge`; a document as a whole has no place. */
export const place = (path: Path): string =>
  path.reduce<string>(
    (at, key) => (typeof key === 'number' ? `${at}[${key}]` : at ? `${at}.${String(key)}` : String(key)),
    '',
  ) || 'document';

const worded = (issue: z.core.$ZodIssue, schema: z.ZodType, written: unknown): Mistake[] => {
  const { path } = issue;
  const value = valueAt(written, path);
  const here = (message: string): Mistake[] => [{ path, message }];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        path: [...path, key],
        message: `there is no such key: ${insteadOf(key, keysAt(schema, path))}`,
      }));
    case 'invalid_type':
      return here(value === undefined ? `is missing: write ${wanted(issue.expected)}` : no(value, issue.expected));
    case 'invalid_value': {
      const all = issue.values.map(String);
      if (value === undefined) return here(`is missing: write one of ${all.join(', ')}`);
      return here(`${shown(value)} is not one of ${all.join(', ')}: ${insteadOf(String(value), all)}`);
    }
    case 'too_small':
      return here(`${shown(value)} is too little: write at least ${least(issue)}`);
    case 'too_big':
      return here(`${shown(value)} is too much: write at most ${issue.maximum}`);
    case 'invalid_union':
      return ofUnion(issue, schema, written);
    case 'invalid_key':
      return here(`${shown(path.at(-1))}: ${issue.issues[0]?.message ?? 'correct it'}`);
    case 'invalid_format':
      return here(`${shown(value)}: ${issue.message}`);
    case 'custom':
    case 'invalid_element':
    case 'not_multiple_of':
      return here(issue.message);
  }
};

/** Reports the mistakes of the alternative that was probably meant, or else all expected values. */
const ofUnion = (issue: z.core.$ZodIssueInvalidUnion, schema: z.ZodType, written: unknown): Mistake[] => {
  // None of several kinds of sections: the schema names them.
  if (issue.errors.length === 0) {
    const kind = valueAt(written, issue.path);
    return [{ path: issue.path, message: `${kind === undefined ? 'is missing' : shown(kind)}: ${issue.message}` }];
  }
  const meant = issue.errors.find((issues) => issues.some(({ path, code }) => path.length > 0 || !UNMEANT.has(code)));
  if (meant)
    return meant.flatMap((inner) => worded({ ...inner, path: [...issue.path, ...inner.path] }, schema, written));
  const values = issue.errors.flat().flatMap((inner) => {
    if (inner.code === 'invalid_type') return [wanted(inner.expected)];
    return inner.code === 'invalid_value' ? inner.values.map(String) : [];
  });
  const value = valueAt(written, issue.path);
  const all = [...new Set(values)].join(' or ');
  return [
    { path: issue.path, message: value === undefined ? `is missing: write ${all}` : `${shown(value)}: write ${all}` },
  ];
};
const UNMEANT: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value']);

const wanted = (expected: string): string => NAMES[expected] ?? expected;
const no = (value: unknown, expected: string): string =>
  `${shown(value)} is not ${wanted(expected)}: write ${wanted(expected)}`;
const least = ({ minimum, origin }: z.core.$ZodIssueTooSmall): string => {
  const many = minimum === 1 ? ['entry', 'character'] : ['entries', 'characters'];
  if (origin === 'array') return `${minimum} ${many[0]}`;
  return origin === 'string' ? `${minimum} ${many[1]}` : `${minimum}`;
};

/** A value as JSON, at most 60 characters of it. */
export const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
};

/** The value at a place of a document; undefined: nothing is there. */
export const valueAt = (written: unknown, path: Path): unknown =>
  path.reduce<unknown>((inside, key) => (inside as Record<PropertyKey, unknown> | null | undefined)?.[key], written);

/** The keys that a section of a document may have. */
const keysAt = (schema: z.core.$ZodType, path: Path): string[] => {
  const [key, ...rest] = path;
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => keysAt(option, path));
  if (inner instanceof z.ZodObject) {
    if (key === undefined) return Object.keys(inner.shape);
    const field = (inner.shape as Record<PropertyKey, z.core.$ZodType>)[key];
    return field === undefined ? [] : keysAt(field, rest);
  }
  if (inner instanceof z.ZodArray) return keysAt(inner.element, rest);
  return inner instanceof z.ZodRecord ? keysAt(inner.valueType, rest) : [];
};

const unwrapped = (schema: z.core.$ZodType): z.core.$ZodType => {
  if (schema instanceof z.ZodPipe) return unwrapped(schema.in);
  const wrapper = schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodNullable;
  return wrapper || schema instanceof z.ZodOptional ? unwrapped(schema.unwrap()) : schema;
};

/**
 * A policy that cannot be used, with all its mistakes, each with its place and remedy. It is fatal at the start, and
 * refused on a reload.
 */
export class CorrectThePolicy extends Error {
  override readonly name = 'CorrectThePolicy';
  readonly mistakes: readonly string[];
  constructor(source: string, mistakes: readonly string[]) {
    super(
      `${source} has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((m) => `  - ${m}`).join('\n')}`,
    );
    this.mistakes = mistakes;
  }
}

/** The deepest nesting of a document. The deepest place of a policy has less than twenty levels. */
const DEEPEST = 100;

const isTooDeep = (written: unknown): boolean => {
  let level = [written];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) return true;
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return false;
};

/** Throws CorrectThePolicy if a document is nested too deep: to write it as text would exceed the stack. */
export const checkDepth = (written: unknown, source: string): void => {
  if (isTooDeep(written))
    throw new CorrectThePolicy(source, [`is nested deeper than ${DEEPEST} levels: write a flatter document`]);
};
