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
  /** only the tests that need servers */
  readonly integrationOnly: boolean;
  /** `2/4`: the second of four parts of the test files; null for all */
  readonly shard: string | null;
  /** keeps running, and repeats the tests of a written file */
  readonly watch: boolean;
  /** the long form of suites that have one, with more rounds, longer faults and 100,000 stories */
  readonly long: boolean;
  /** a suite that runs only by its name; null for the default tests */
  readonly suite: Suite | null;
};

/**
 * `clients`: with real coding agents. `cluster`: the suites on the log, with three brokers. `secured`: the walkthrough
 * under TLS, SCRAM and ACLs. `embedded`: the walkthrough on the log in a file. `soak`: a fault every 30 s.
 */
export type Suite = (typeof SUITES)[number];
const SUITES = ['clients', 'cluster', 'secured', 'embedded', 'soak'] as const;

/** The tests that run on Kafka, and on the log in a file. */
export const ON_BOTH_LOGS = 'test/walkthrough/*.it.test.ts';

/** The tests that need Postgres, and no log. */
export const ON_POSTGRES = 'packages/{read-model,projection}/src/*.it.test.ts';

const OPTIONS = ['--unit', '--integration', '--watch'];
const SHARD = /^--shard=\d+\/\d+$/;

const escaped = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Matches a name that contains each of the words anywhere, ignoring case. */
export const patternOf = (words: readonly string[]): string | null =>
  words.length === 0 ? null : `(?i:^${words.map((word) => `(?=.*${escaped(word)})`).join('')})`;

/** The request of `npm test …`. @throws Refusal for an unknown option */
export const requestOf = (args: readonly string[]): TestRequest => {
  const options = args.filter((arg) => arg.startsWith('--'));
  const unknown = options.find((option) => !OPTIONS.includes(option) && !SHARD.test(option));
  if (unknown !== undefined)
    throw new Refusal(
      `npm test takes words of a test's name, folders, and after -- the options ${OPTIONS.join(', ')} and --shard=1/4; ${unknown} is not one of them`,
    );
  const given = args.filter((arg) => !arg.startsWith('--')).flatMap((arg) => arg.split(/\s+/).filter(Boolean));
  const paths = given.filter((word) => word.includes('/') && existsSync(path.join(root, word)));
  const all = given.filter((word) => !paths.includes(word));
  const long = all[0] === 'long';
  const words = long ? all.slice(1) : all;
  const unitOnly = options.includes('--unit');
  const integrationOnly = options.includes('--integration');
  if (unitOnly && integrationOnly)
    throw new Refusal('--unit and --integration exclude each other: without both, npm test runs all tests');
  const shard = options.find((option) => SHARD.test(option))?.replace('--shard=', '') ?? null;
  const watch = options.includes('--watch');
  if (watch && !unitOnly) throw new Refusal('--watch requires --unit: npm test -- --unit --watch');
  const suite = (unitOnly ? undefined : SUITES.find((name) => name === words[0])) ?? null;
  const pattern = patternOf(suite === null ? words : words.slice(1));
  return { pattern, paths, unitOnly, integrationOnly, shard, watch, long, suite };
};
