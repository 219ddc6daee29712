import { existsSync } from 'node:fs';
import path from 'node:path';
import { interruption } from './processes/interrupt.ts';
import { endWith, Refusal } from './refusal.ts';
import { startTestEmbedded } from './servers/embedded.ts';
import type { BrokerForm, Environment } from './servers/running-servers.ts';
import { givenServers, startServers } from './servers/servers.ts';
import { requestOf, type Suite, type TestRequest } from './test-run/arguments.ts';
import { leftOutLine, meansHere, needingKafka } from './test-run/means.ts';
import { closeRunFolder, failedLogs, openRunFolder } from './test-run/run-folder.ts';
import type { Summary } from './test-run/summary.ts';
import { neededServers, readSummary, runVitest } from './test-run/vitest.ts';

const report = (line: string): void => console.error(`[test] ${line}`);

/** `env`: how the tests find the servers. */
type TestServers = { readonly env: Readonly<Record<string, string>>; readonly stop: () => Promise<unknown> };

const startKafka = async (dir: string, form: BrokerForm, env: Environment): Promise<TestServers> => {
  const own = { purpose: 'test', dir, form, env, given: givenServers(env), sharedRegistry: null } as const;
  const { env: found, brokersAt, stop } = await startServers({ ...own, onProgress: report });
  return { env: { ...found, ...(brokersAt.length > 0 && { VIGIL_TEST_SERVERS: JSON.stringify(brokersAt) }) }, stop };
};

/** Postgres alone. Each system of a test has a log of its own. */
const startDatabase = async (dir: string, env: Environment): Promise<TestServers> => {
  const { env: found, stop } = await startTestEmbedded({ dir, env, report });
  const { VIGIL_LOG_FILE: _, VIGIL_PARTITIONS: __, ...database } = found;
  return { env: database, stop };
};

const formOf = (suite: Suite | null): BrokerForm => (suite === 'cluster' || suite === 'secured' ? suite : 'one');

const testOn = async (
  request: TestRequest,
  dir: string,
  env: Environment,
  signal: AbortSignal,
): Promise<Summary & { readonly code: number }> => {
  const isDefault = request.suite === null && !request.unitOnly;
  const means = isDefault ? meansHere(env) : 'kafka';
  const leftOut = means === 'kafka' ? null : leftOutLine(needingKafka(request.paths));
  const form = formOf(request.suite);
  const needed = neededServers(request, means);
  const servers =
    needed === null ? null : await (needed === 'kafka' ? startKafka(dir, form, env) : startDatabase(dir, env));
  try {
    if (signal.aborted) return { passed: 0, failed: 0, code: 1 };
    const file = path.join(dir, 'summary.json');
    const own = {
      ...servers?.env,
      VIGIL_TEST_BROKERS: form,
      ...(request.long ? { VIGIL_SOAK: '1' } : {}),
    };
    const code = await runVitest({ request, means, env: { ...env, ...own }, summary: file, signal });
    const summary = readSummary(file, code);
    if (leftOut !== null) report(leftOut);
    if (code === 0 && summary.passed === 0)
      throw new Refusal(
        `no test has all these words in its name: ${process.argv.slice(2).join(' ')}. Name a file or folder by its path, such as test/scenarios`,
      );
    return { ...summary, code };
  } finally {
    await servers?.stop();
  }
};

const main = async (env: Environment): Promise<number> => {
  const request = requestOf(process.argv.slice(2));
  const interrupted = interruption(env);
  const dir = await openRunFolder();
  let failed = true;
  try {
    const { passed, failed: failures, code } = await testOn(request, dir, env, interrupted.signal);
    failed = code !== 0;
    if (failed && existsSync(path.join(dir, 'logs'))) report(`logs of the servers: ${failedLogs}`);
    console.log(`${passed} passed, ${failures} failed`);
    return interrupted.code() ?? code;
  } finally {
    await closeRunFolder(dir, failed);
  }
};

main(process.env).then((code) => {
  process.exitCode = code;
}, endWith);
