import type { z } from 'zod';
import { Refused } from './refused.ts';

/** What a process was started with, as Node gives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

const secretName = /(TOKEN|PASSWORD|SECRET|_KEY|WEBHOOK)/i;

/**
 * Reads variables once, typed: `schema` is an object of one zod type a variable, whose error message is the remedy. A
 * `.transform` after it may give them another shape. An empty variable counts as not set. Throws Refused with every
 * problem in one message.
 */
export const readConfig = <Schema extends z.ZodType>(schema: Schema, env: Environment): z.output<Schema> => {
  const [problems, config] = examine(schema, env);
  if (problems.length > 0) throw refusal(problems);
  return config as z.output<Schema>;
};

/** The same for two schemas that different parts of a process own: one message for both. */
export const readConfigs = <A extends z.ZodType, B extends z.ZodType>(
  first: A,
  second: B,
  env: Environment,
): [z.output<A>, z.output<B>] => {
  const [firstProblems, a] = examine(first, env);
  const [secondProblems, b] = examine(second, env);
  const problems = new Set([...firstProblems, ...secondProblems]);
  if (problems.size > 0) throw refusal([...problems]);
  return [a as z.output<A>, b as z.output<B>];
};

const examine = (schema: z.ZodType, env: Environment): [readonly string[], unknown] => {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const read = schema.safeParse(given);
  if (read.success) return [[], read.data];
  return [read.error.issues.map((issue) => describe(String(issue.path[0]), given, issue.message)), undefined];
};

const describe = (variable: string, env: Environment, remedy: string): string => {
  const value = env[variable];
  return `  ${variable} ${value === undefined ? 'is not set' : `is ${shown(variable, value)}`}: ${remedy}`;
};

const refusal = (problems: readonly string[]): Refused =>
  new Refused(`The environment cannot be used (${problems.length} of its variables):\n${problems.join('\n')}`);

/** A value as it may appear in a message: secrets never do, and neither does anything before the @ of an address. */
const shown = (variable: string, value: string): string => {
  if (secretName.test(variable)) return '(a secret, not shown)';
  if (/@/.test(value)) return JSON.stringify(value.replace(/^([a-z]+:\/\/)?.*@/is, '$1…@'));
  return JSON.stringify(value);
};
