import { spawnSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { Refusal } from '../refusal.ts';

const REMEDY =
  'install Java 17 or later and Maven (Debian: apt install openjdk-17-jre-headless maven), start a container engine, give KAFKA_BROKERS, SCHEMA_REGISTRY_URL and DATABASE_URL, or start without Kafka (npm start -- --embedded)';

const LEAST_JAVA = 17;

/** The major version in the output of `java -version`; null without one. */
export const javaMajor = (versionText: string): number | null => {
  const found = /version "(?:1\.)?(\d+)/.exec(versionText);
  return found === null ? null : Number(found[1]);
};

const installedJava = (): number | null =>
  javaMajor(spawnSync('java', ['-version'], { encoding: 'utf8' }).stderr ?? '');

const hasMaven = (): boolean => spawnSync('mvn', ['-v'], { encoding: 'utf8' }).status === 0;

/** Whether this machine can fetch and run Kafka and the registry as processes. */
export const hasJavaAndMaven = (): boolean => (installedJava() ?? 0) >= LEAST_JAVA && hasMaven();

export const requireJava = (): void => {
  const major = installedJava();
  if (major === null)
    throw new Refusal(`Kafka and the schema registry need Java, and there is none in PATH: ${REMEDY}`);
  if (major < LEAST_JAVA)
    throw new Refusal(`Kafka and the schema registry need Java 17 or later, and java is ${major}: ${REMEDY}`);
};

export const requireMaven = (): void => {
  if (!hasMaven())
    throw new Refusal(`Kafka and the schema registry are fetched by Maven, and mvn is not in PATH: ${REMEDY}`);
};

/** @param freeBytes free space; default: on the disk of `dir` */
export const requireDisk = (dir: string, requiredBytes: number, freeBytes: number = freeAt(dir)): void => {
  if (freeBytes >= requiredBytes) return;
  const gb = (bytes: number): string => (bytes / 1e9).toFixed(1);
  throw new Refusal(
    `${gb(freeBytes)} GB are free on the disk of ${dir} and ${gb(requiredBytes)} GB are needed: make room, then run the command again`,
  );
};

const freeAt = (dir: string): number => {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
};

/** Whether a container engine answers. */
export const hasContainerEngine = (): boolean =>
  spawnSync('docker', ['info', '--format', '{{.ServerVersion}}'], { timeout: 5_000 }).status === 0;
