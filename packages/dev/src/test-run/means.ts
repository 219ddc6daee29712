import { globSync } from 'node:fs';
import { root } from '../paths.ts';
import { hasContainerEngine, hasJavaAndMaven } from '../servers/requirements.ts';
import type { Environment } from '../servers/running-servers.ts';
import { givenServers } from '../servers/servers.ts';
import { ON_BOTH_LOGS, ON_POSTGRES } from './arguments.ts';

/** What a run has: Kafka, its registry and Postgres; or only what npm fetches, which is Postgres and the log in a file. */
export type Means = 'kafka' | 'embedded';

export const meansHere = (env: Environment): Means =>
  givenServers(env) !== null || hasContainerEngine() || hasJavaAndMaven() ? 'kafka' : 'embedded';

/** The files of tests that only Kafka can run, below these paths; without paths, all of them. */
export const needingKafka = (paths: readonly string[]): readonly string[] => {
  const others = new Set(globSync([ON_BOTH_LOGS, ON_POSTGRES], { cwd: root }));
  const files = globSync(['{packages,services}/*/src/**/*.it.test.ts', 'test/**/*.it.test.ts'], {
    cwd: root,
    exclude: ['**/node_modules/**'],
  });
  return files
    .filter((file) => !others.has(file) && (paths.length === 0 || paths.some((one) => file.startsWith(one))))
    .toSorted();
};

/** The line about what a run leaves out; null: nothing. */
export const leftOutLine = (files: readonly string[]): string | null =>
  files.length === 0
    ? null
    : `left out ${files.length} files that need Kafka, because this machine has no container engine, and not both Java 17 and Maven:\n${files.map((file) => `  ${file}`).join('\n')}`;
