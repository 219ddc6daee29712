import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { kafkaJars } from './artifacts.ts';
import type { Broker } from './broker.ts';
import { brokerSettings } from './broker-settings.ts';
import { type ContainerAt, containerBroker } from './container-broker.ts';
import { type Daemon, killDaemon, startDaemon, stopDaemon } from './daemon.ts';
import { livingPid } from './pid-file.ts';
import { Refusal } from './refusal.ts';

/** Where a broker is found: plain JSON, handed from the run that started it to the tests that end it. */
export type BrokerAt = ProcessAt | ContainerAt;
type ProcessAt = {
  readonly kind: 'process';
  readonly dir: string;
  readonly port: number;
  readonly controllerPort: number;
};

const propertiesOf = ({ dir, port, controllerPort }: ProcessAt): string => {
  const settings = {
    ...brokerSettings,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'log.dirs': path.join(dir, 'kafka', 'data'),
  };
  return `${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
};

/** A cluster id is 16 bytes in base64url; StorageTool takes a leading dash for an option. */
const clusterId = (): string => randomBytes(16).toString('base64url').replace(/^-/, 'A');

const format = (jars: string, properties: string): void => {
  const quiet = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-XX:TieredStopAtLevel=1'];
  const tool = ['kafka.tools.StorageTool', 'format', '-t', clusterId(), '-c', properties];
  const { status, stdout, stderr } = spawnSync('java', [...quiet, '-cp', `${jars}/*`, ...tool], { encoding: 'utf8' });
  if (status !== 0) throw new Refusal(`Kafka could not format its data folder of ${properties}:\n${stdout}${stderr}`);
};

const daemonOf = (at: ProcessAt, jars: string, properties: string): Daemon => ({
  name: 'kafka',
  dir: at.dir,
  command: 'java',
  args: [
    ...['-Xms256m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true'],
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    // The one line that says it serves: it is written after the controller has let the broker in.
    '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
    ...['-cp', `${jars}/*`, 'kafka.Kafka', properties],
  ],
  cwd: path.join(at.dir, 'kafka'),
  stopWith: 'SIGTERM',
  isReady: (written) => written.includes('Kafka Server started'),
});

const brokerOf = (daemon: Daemon): Broker => ({
  pid: () => livingPid(daemon.dir, daemon.name),
  kill: (signal) => killDaemon(daemon, signal),
  stop: () => stopDaemon(daemon),
  restart: async () => {
    await stopDaemon(daemon);
    await startDaemon(daemon);
  },
});

const filesOf = ({ dir }: ProcessAt): { data: string; properties: string } => ({
  data: path.join(dir, 'kafka', 'data'),
  properties: path.join(dir, 'kafka', 'server.properties'),
});

/** The handle of a broker that startBroker has started, perhaps in another process. */
export const brokerAt = async (at: BrokerAt): Promise<Broker> =>
  at.kind === 'container'
    ? containerBroker(at)
    : brokerOf(daemonOf(at, await kafkaJars(() => undefined), filesOf(at).properties));

/** Starts a broker on the data in `dir`, made when there is none. */
export const startBroker = async (at: ProcessAt, say: (line: string) => void): Promise<Broker> => {
  const jars = await kafkaJars(say);
  const { data, properties } = filesOf(at);
  mkdirSync(path.dirname(properties), { recursive: true });
  writeFileSync(properties, propertiesOf(at));
  if (!existsSync(path.join(data, 'meta.properties'))) format(jars, properties);
  const daemon = daemonOf(at, jars, properties);
  await startDaemon(daemon);
  return brokerOf(daemon);
};
