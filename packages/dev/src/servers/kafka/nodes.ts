import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Daemon, killDaemon, startDaemon, stopDaemon } from '../../processes/daemon.ts';
import { livingPid } from '../../processes/pid-file.ts';
import type { RunDaemon } from '../../processes/supervise-daemon.ts';
import { Refusal } from '../../refusal.ts';
import { kafkaJars } from '../artifacts.ts';
import { type Broker, type ContainerAt, containerBroker } from './broker.ts';
import { brokerSettings, productionSettings } from './broker-settings.ts';
import { makeCertificate, scramUsers, securedSettings } from './secured.ts';

/** The location of a broker. It is plain JSON, which the run passes to the tests that end the broker. */
export type BrokerAt = ProcessAt | ContainerAt;
export type ProcessAt = {
  readonly kind: 'process';
  readonly dir: string;
  /** the name of its pid file, its log and its folder in `dir` */
  readonly name: string;
  readonly port: number;
  readonly controllerPort: number;
  /** TLS, SCRAM and ACLs */
  readonly isSecured: boolean;
};

const propertiesOf = (at: ProcessAt, nodes: readonly ProcessAt[]): string => {
  const { port, controllerPort } = at;
  const listener = at.isSecured ? 'SASL_SSL' : 'PLAINTEXT';
  const voters = nodes.map((node, i) => `${i + 1}@127.0.0.1:${node.controllerPort}`);
  const settings = {
    ...(nodes.length === 1 ? brokerSettings : productionSettings),
    ...(at.isSecured ? securedSettings(at.dir) : {}),
    'node.id': String(nodes.indexOf(at) + 1),
    'controller.quorum.voters': voters.join(','),
    listeners: `${listener}://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `${listener}://127.0.0.1:${port}`,
    'log.dirs': filesOf(at).data,
  };
  return `${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
};

/** A cluster id is 16 bytes in base64url. StorageTool reads a leading dash as an option. */
const clusterId = (): string => randomBytes(16).toString('base64url').replace(/^-/, 'A');

const format = async (at: ProcessAt, jars: string, properties: string, cluster: string): Promise<void> => {
  const quiet = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-XX:TieredStopAtLevel=1'];
  const tool = ['kafka.tools.StorageTool', 'format', '-t', cluster, '-c', properties];
  if (at.isSecured) tool.push(...scramUsers(at.dir));
  await promisify(execFile)('java', [...quiet, '-cp', `${jars}/*`, ...tool]).catch(({ stdout, stderr }) => {
    throw new Refusal(`Kafka could not format its data folder of ${properties}:\n${stdout}${stderr}`);
  });
};

const daemonOf = (at: ProcessAt, jars: string, properties: string): Daemon => ({
  name: at.name,
  dir: at.dir,
  command: 'java',
  args: [
    ...['-Xms256m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true'],
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    // The line that shows that it serves, written after the controller has accepted the broker.
    '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
    // Its log has the requests that ACLs refuse.
    ...(at.isSecured ? ['-Dorg.slf4j.simpleLogger.log.kafka.authorizer.logger=info'] : []),
    ...['-cp', `${jars}/*`, 'kafka.Kafka', properties],
  ],
  cwd: path.join(at.dir, at.name),
  stopWith: 'SIGTERM',
  isReady: (written) => written.includes('Kafka Server started'),
});

const brokerOf = (daemon: Daemon, stop: () => Promise<void>): Broker => ({
  pid: () => livingPid(daemon.dir, daemon.name),
  kill: (signal) => killDaemon(daemon, signal),
  stop,
  restart: async () => {
    await stopDaemon(daemon);
    await startDaemon(daemon);
  },
});

const filesOf = ({ dir, name }: ProcessAt): { data: string; properties: string } => ({
  data: path.join(dir, name, 'data'),
  properties: path.join(dir, name, 'server.properties'),
});

/** The handle of a broker of startBroker, possibly of another process. */
export const brokerAt = async (at: BrokerAt): Promise<Broker> => {
  if (at.kind === 'container') return containerBroker(at);
  const daemon = daemonOf(at, await kafkaJars(() => undefined), filesOf(at).properties);
  return brokerOf(daemon, () => stopDaemon(daemon));
};

const startNode = async (
  at: ProcessAt,
  nodes: readonly ProcessAt[],
  jars: string,
  cluster: string,
  run: RunDaemon,
): Promise<Broker> => {
  const { data, properties } = filesOf(at);
  mkdirSync(path.dirname(properties), { recursive: true });
  if (at.isSecured) makeCertificate(at.dir);
  writeFileSync(properties, propertiesOf(at, nodes));
  if (!existsSync(path.join(data, 'meta.properties'))) await format(at, jars, properties, cluster);
  const daemon = daemonOf(at, jars, properties);
  const { stop } = await run(daemon, () => startDaemon(daemon));
  return brokerOf(daemon, stop);
};

/**
 * Starts the nodes of one cluster, each on the data in its folder, which is created if absent. Rejects only when all
 * attempts have ended.
 */
export const startNodes = async (
  nodes: readonly ProcessAt[],
  run: RunDaemon,
  report: (line: string) => void,
): Promise<readonly Broker[]> => {
  const jars = await kafkaJars(report);
  const cluster = clusterId();
  const starting = nodes.map((at) => startNode(at, nodes, jars, cluster, run));
  await Promise.allSettled(starting);
  return Promise.all(starting);
};
