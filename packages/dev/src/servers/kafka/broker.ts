import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Refusal } from '../../refusal.ts';

/** A broker that any process with its location can end, freeze and restart on the same data and port. */
export type Broker = {
  /** null while it is ended, and in a container */
  readonly pid: () => number | null;
  /** SIGKILL ends it and waits for its end; SIGSTOP freezes it, and SIGCONT continues it */
  readonly kill: (signal: NodeJS.Signals) => Promise<void>;
  /** restarts it, ended or not; resolves when it serves */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type ContainerAt = { readonly kind: 'container'; readonly id: string; readonly port: number };

const READY_LIMIT_MS = 180_000;

const docker = promisify(execFile);

const serves = ({ id, port }: ContainerAt): Promise<boolean> =>
  docker('docker', [
    'exec',
    id,
    '/opt/kafka/bin/kafka-broker-api-versions.sh',
    '--bootstrap-server',
    `127.0.0.1:${port}`,
  ]).then(
    () => true,
    () => false,
  );

const untilServing = async (at: ContainerAt): Promise<void> => {
  for (const late = AbortSignal.timeout(READY_LIMIT_MS); !(await serves(at)); await sleep(250))
    if (late.aborted) throw new Refusal(`Kafka's container ${at.id} does not serve: see docker logs ${at.id}`);
};

/** A broker in a container with a fixed port on this machine, so that it keeps its address across a restart. */
export const containerBroker = (at: ContainerAt): Broker => ({
  pid: () => null,
  kill: async (signal) => {
    await docker('docker', ['kill', '--signal', signal, at.id]);
    if (signal === 'SIGKILL') await docker('docker', ['wait', at.id]);
  },
  restart: async () => {
    await docker('docker', ['restart', at.id]);
    await untilServing(at);
  },
  stop: async () => {
    await docker('docker', ['stop', at.id]);
  },
});
