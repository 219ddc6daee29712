import { existsSync } from 'node:fs';
import path from 'node:path';
import { interruption } from './processes/interrupt.ts';
import { endWith, Refusal } from './refusal.ts';
import type { BrokerForm, Environment, Servers } from './servers/running-servers.ts';
import { givenServers, startServers } from './servers/servers.ts';
import { requestOf, type Suite, type TestRequest } from './test-run/arguments.ts';
import { leftOutLine, meansHere, needingKafka } from './test-run/means.ts';
import { closeRunFolder, failedLogs, openRunFolder } from './test-run/run-folder.ts';
import type { Summary } from './test-run/summary.ts';
import { needsServers, readSummary, runVitest } from './test-run/vitest.ts';

const report = (line: string): void => console.error(`[test] ${line}`);

/** How the tests find the servers. */
const envOf = (servers: Servers | null): Record<string, string> => {
  if (servers === null) return {};
  const { env, brokersAt } = servers;
  return {
    ...env,
    ...(brokersAt.length === 0 ? {} : { VIGIL_TEST_SERVERS: JSON.stringify(brokersAt) }),
  };
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
  const servers = needsServers(request, means)
    ? await startServers({
        purpose: 'test',
        dir,
        form,
        env,
        given: givenServers(env),
        sharedRegistry: null,
        onProgress: report,
      })
    : null;
  try {
    if (signal.aborted) return { passed: 0, failed: 0, code: 1 };
    const file = path.join(dir, 'summary.json');
    const own = {
      ...envOf(servers),
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
