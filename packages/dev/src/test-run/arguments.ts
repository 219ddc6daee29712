import { existsSync } from 'node:fs';
import path from 'node:path';
import { root } from '../paths.ts';
import { Refusal } from '../refusal.ts';

export type TestRequest = {
  /** regular expression that a test's full name must match; null for all tests */
  readonly pattern: string | null;
  /** files and folders whose tests are run; empty: all */
  readonly paths: readonly string[];
  readonly unitOnly: boolean;
  /** keeps running, and repeats the tests of a written file */
  readonly watch: boolean;
  /** the long form of suites that have one: more rounds, longer faults, 100,000 stories */
  readonly long: boolean;
  /** a suite that runs by its name only; null for the tests of every run */
  readonly suite: Suite | null;
};

/** `clients`: with real coding agents; `cluster`: the suites on the log, with three brokers */
export type Suite = (typeof SUITES)[number];
const SUITES = ['clients', 'cluster'] as const;

const escaped = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** A name that contains each of the words, wherever, in upper or lower case. */
export const patternOf = (words: readonly string[]): string | null =>
  words.length === 0 ? null : `(?i:^${words.map((word) => `(?=.*${escaped(word)})`).join('')})`;

/** The request of `npm test …`. @throws Refusal for an unknown option */
export const requestOf = (args: readonly string[]): TestRequest => {
  const options = args.filter((arg) => arg.startsWith('--'));
  const unknown = options.find((option) => option !== '--unit' && option !== '--watch');
  if (unknown !== undefined)
    throw new Refusal(
      `npm test takes words of a test's name, folders, -- --unit and -- --unit --watch; it does not know ${unknown}`,
    );
  const given = args.filter((arg) => !arg.startsWith('--')).flatMap((arg) => arg.split(/\s+/).filter(Boolean));
  const paths = given.filter((word) => word.includes('/') && existsSync(path.join(root, word)));
  const all = given.filter((word) => !paths.includes(word));
  const long = all[0] === 'long';
  const words = long ? all.slice(1) : all;
  const unitOnly = options.includes('--unit');
  const watch = options.includes('--watch');
  if (watch && !unitOnly) throw new Refusal('--watch requires --unit: npm test -- --unit --watch');
  const suite = (unitOnly ? undefined : SUITES.find((name) => name === words[0])) ?? null;
  return { pattern: patternOf(suite === null ? words : words.slice(1)), paths, unitOnly, watch, long, suite };
};
