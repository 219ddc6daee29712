import path from 'node:path';
import { type Daemon, startDaemon } from '../processes/daemon.ts';
import type { RunDaemon } from '../processes/supervise-daemon.ts';
import { Refusal } from '../refusal.ts';
import { REGISTRY_VERSION, registryFolder } from './artifacts.ts';
import type { Environment } from './running-servers.ts';

export type RegistryAt = {
  readonly dir: string;
  readonly port: number;
  readonly postgresPort: number;
  readonly postgresPassword: string;
  /** what it inherits */
  readonly env: Environment;
  readonly run: RunDaemon;
};
export type Registry = { readonly url: string; readonly stop: () => Promise<void> };

/** The only level, because a subject's own level would override the global one. */
export const COMPATIBILITY = 'FULL_TRANSITIVE';

const urlOf = (port: number): string => `http://127.0.0.1:${port}/apis/ccompat/v7`;

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/subjects`).then(
    (response) => response.ok,
    () => false,
  );

const daemonOf = ({ dir, port, postgresPort, postgresPassword, env }: RegistryAt, folder: string): Daemon => ({
  name: 'registry',
  dir,
  command: 'java',
  args: [
    ...['-Xms128m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
    ...['-Dquarkus.http.host=127.0.0.1', `-Dquarkus.http.port=${port}`, '-Dquarkus.http.access-log.enabled=false'],
    ...[
      '-Dquarkus.banner.enabled=false',
      '-Dquarkus.log.level=WARN',
      '-Dquarkus.log.category."io.apicurio".level=WARN',
    ],
    // A change of order or white space does not make a new version.
    '-Dapicurio.ccompat.use-canonical-hash=true',
    `-Dapicurio.rules.global.compatibility=${COMPATIBILITY}`,
    ...['-jar', `apicurio-registry-app-${REGISTRY_VERSION}-runner.jar`],
  ],
  cwd: folder,
  env: {
    ...env,
    APICURIO_STORAGE_KIND: 'sql',
    APICURIO_STORAGE_SQL_KIND: 'postgresql',
    APICURIO_DATASOURCE_URL: `jdbc:postgresql://127.0.0.1:${postgresPort}/apicurio`,
    APICURIO_DATASOURCE_USERNAME: 'vigil',
    APICURIO_DATASOURCE_PASSWORD: postgresPassword,
    APICURIO_DATASOURCE_JDBC_INITIAL_SIZE: '1',
    APICURIO_DATASOURCE_JDBC_MIN_SIZE: '1',
    APICURIO_DATASOURCE_JDBC_MAX_SIZE: '8',
  },
  stopWith: 'SIGTERM',
  isReady: () => answers(urlOf(port)),
});

/** Without this the registry enforces the global level, but answers NONE to a query for it. */
export const declareCompatibility = async (url: string): Promise<void> => {
  const response = await fetch(`${url}/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ compatibility: COMPATIBILITY }),
  });
  if (!response.ok)
    throw new Refusal(
      `the schema registry at ${url} refused level ${COMPATIBILITY} with ${response.status}: ${await response.text()}`,
    );
};

/** Starts the registry on its database in Postgres, which must be up. */
export const startRegistry = async (at: RegistryAt, report: (line: string) => void): Promise<Registry> => {
  const daemon = daemonOf(at, path.resolve(await registryFolder(report)));
  const url = urlOf(at.port);
  const { stop } = await at.run(daemon, async () => {
    const child = await startDaemon(daemon);
    await declareCompatibility(url);
    return child;
  });
  return { url, stop };
};
