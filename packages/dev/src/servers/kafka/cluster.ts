import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { runOnce } from '../../processes/supervise-daemon.ts';
import { endWithUs } from '../../processes/survivors.ts';
import { kafkaJars } from '../artifacts.ts';
import { freePorts } from '../ports.ts';
import { requireJava } from '../requirements.ts';
import type { Broker } from './broker.ts';
import { type ProcessAt, startNodes } from './nodes.ts';

const NAMES = ['kafka-1', 'kafka-2', 'kafka-3'] as const;

/** Three nodes on free ports of the loopback, with their data in `dir`. */
export const threeNodes = async (dir: string): Promise<readonly ProcessAt[]> => {
  const ports = await freePorts(2 * NAMES.length);
  return NAMES.map((name, i) => ({
    kind: 'process',
    dir,
    name,
    port: ports[2 * i] as number,
    controllerPort: ports[2 * i + 1] as number,
    isSecured: false,
  }));
};

/** In the form of KAFKA_BROKERS. */
export const addressesOf = (nodes: readonly ProcessAt[]): string =>
  nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');

/**
 * A single node shuts down cleanly. Several nodes lose their quorum once two are gone, and their data ends with the
 * run.
 */
export const stopNodes = async (brokers: readonly Broker[]): Promise<void> => {
  const several = brokers.length > 1;
  await Promise.all(brokers.map((broker) => (several ? broker.kill('SIGKILL') : broker.stop())));
};

/**
 * Three brokers and nothing else. `addresses`: host:port of each, in the order of `brokers`, whose ids are 1, 2 and 3.
 */
export type Cluster = {
  readonly addresses: readonly string[];
  readonly brokers: readonly Broker[];
  readonly stop: () => Promise<void>;
};

/**
 * Three brokers as processes of this machine with production settings. They end with this process in any case.
 * @throws Refusal with the missing part and the remedy; then nothing is left running
 */
export const startCluster = async (dir: string, onProgress: (line: string) => void): Promise<Cluster> => {
  requireJava();
  mkdirSync(dir, { recursive: true });
  await kafkaJars(onProgress);
  const nodes = await threeNodes(path.resolve(dir));
  for (const { name } of nodes) endWithUs(dir, name);
  const brokers = await startNodes(nodes, runOnce, onProgress);
  return { addresses: addressesOf(nodes).split(','), brokers, stop: () => stopNodes(brokers) };
};
