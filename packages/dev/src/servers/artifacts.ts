import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cacheDir } from '../paths.ts';
import { Refusal } from '../refusal.ts';
import { requireMaven } from './requirements.ts';

/** Kafka's version is chosen deliberately: 4.3 and 4.4.0 lose transaction markers (KAFKA-20734). */
export const KAFKA_VERSION = '4.2.0';
/** The newest version that runs on Java 17. */
export const REGISTRY_VERSION = '3.0.9';

const run = (what: string, command: string, args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const fail = (how: string): void =>
      reject(
        new Refusal(
          `${what}: ${command} ${how}; is Maven Central reachable? ${output.trim().split('\n').slice(0, 5).join('\n')}`,
        ),
      );
    child.once('error', (error) => fail(error.message));
    child.once('close', (code) => (code === 0 ? resolve() : fail(`ended with ${code}`)));
  });

/** Fills a folder of the cache once. It is renamed when complete, so that a partial download is never used. */
const once = async (name: string, progress: () => void, fill: (aside: string) => Promise<void>): Promise<string> => {
  const dir = path.join(cacheDir, name);
  if (existsSync(dir)) return dir;
  requireMaven();
  progress();
  const aside = `${dir}.${process.pid}`;
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { recursive: true });
  try {
    await fill(aside);
    // Another run may have been faster; then its folder is used.
    if (!existsSync(dir)) renameSync(aside, dir);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return dir;
};

const dependency = (group: string, artifact: string, version: string): string =>
  `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;

const kafkaPom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    ${dependency('org.apache.kafka', 'kafka_2.13', KAFKA_VERSION)}
    ${dependency('org.slf4j', 'slf4j-simple', '1.7.36')}
  </dependencies>
</project>
`;

// -C makes a wrong checksum of a jar an error, not a warning.
const MAVEN = ['-B', '-q', '-C'];

/** The folder of the broker's jars, which are downloaded if absent. */
export const kafkaJars = (report: (line: string) => void): Promise<string> =>
  once(
    `kafka-${KAFKA_VERSION}`,
    () => report(`fetching Kafka ${KAFKA_VERSION} (once, 45 MB) …`),
    (aside) => {
      const pom = path.join(aside, 'pom.xml');
      writeFileSync(pom, kafkaPom);
      const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${aside}`, '-DincludeScope=runtime'];
      return run('fetching Kafka', 'mvn', [...MAVEN, '-f', pom, ...copy]);
    },
  );

/** The folder of the unpacked registry, which is downloaded if absent. */
export const registryFolder = (report: (line: string) => void): Promise<string> =>
  once(
    `apicurio-${REGISTRY_VERSION}`,
    () => report(`fetching the schema registry, Apicurio ${REGISTRY_VERSION} (once, 110 MB) …`),
    async (aside) => {
      const artifact = `io.apicurio:apicurio-registry-app:${REGISTRY_VERSION}:tar.gz:all`;
      const copy = ['dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${aside}`];
      await run('fetching the schema registry', 'mvn', [...MAVEN, ...copy]);
      const archive = path.join(aside, `apicurio-registry-app-${REGISTRY_VERSION}-all.tar.gz`);
      await run('unpacking the schema registry', 'tar', ['xzf', archive, '-C', aside]);
      rmSync(archive);
    },
  );
