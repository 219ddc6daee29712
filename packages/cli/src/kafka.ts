import { setTimeout as sleep } from 'node:timers/promises';
import { type Codec, catalogue, connectCodec, memoryCodec, registryFrom, Topic, type TopicName } from '@vigil/events';
import type { WrittenCommand } from '@vigil/read-model';
import {
  type Acl,
  applyAcls,
  applyTopics,
  connectLog,
  HANGS_AFTER_MS,
  type Hanging,
  hangingTransactions,
  kafkaFrom,
  type Log,
  type Move,
  movePosition,
  planAcls,
  silentLogger,
  type TopicReport,
  writer,
} from '@vigil/stream';
import type { DirectSettings, KafkaSettings } from './config.ts';
import { CannotProceed } from './errors.ts';

const openKafka = async (settings: KafkaSettings, codec: Codec): Promise<Log> =>
  connectLog({ kafka: kafkaFrom(settings), clientId: 'vigil-cli', codec, logger: silentLogger });

/** `writes`: the topics whose schemas are registered. */
const openLog = async (settings: DirectSettings, writes: readonly TopicName[]): Promise<Log> => {
  switch (settings.kind) {
    case 'file': {
      const { openFileLog } = await import('./file-log.ts');
      return openFileLog({ path: settings.path, partitions: settings.partitions, writes, now: Date.now });
    }
    case 'kafka':
      return openKafka(settings.kafka, await connectCodec(registryFrom(settings.registry), writes));
  }
};

/** `writes`: the topics whose schemas are registered; `failure`: what a failure prevents. */
type LogUse = { readonly writes: readonly TopicName[]; readonly failure: string };

/** Uses the log. Throws CannotProceed where it does not answer. */
export const withLog = <T>(
  settings: DirectSettings,
  use: (log: Log) => Promise<T>,
  { writes, failure }: LogUse = { writes: [], failure: 'the log cannot be read' },
): Promise<T> =>
  orCannot(failure, async () => {
    await using log = await openLog(settings, writes);
    return await use(log);
  });

const orCannot = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    throw new CannotProceed(`${what}: ${(cause as Error).message}`, { cause });
  }
};

/** What differs between the topics as they are and as they are to be; `change`: and makes it so. Throws CannotProceed. */
export const changeTopics = (
  settings: KafkaSettings,
  { partitions, replicas }: { readonly partitions: number; readonly replicas: number },
  change: boolean,
): Promise<TopicReport> =>
  orCannot('the topics cannot be compared', async () =>
    applyTopics({ kafka: kafkaFrom(settings), partitions, replicas, dryRun: !change }),
  );

/** The permissions that the topology needs; with settings, created on that cluster. Throws CannotProceed. */
export const aclsOn = async (settings: KafkaSettings | null): Promise<readonly Acl[]> =>
  settings === null ? planAcls() : orCannot('the ACLs are not created', async () => applyAcls(kafkaFrom(settings)));

/** Moves a processor's position. Throws CannotProceed, with the reason where it is refused. */
export const reset = (settings: KafkaSettings, move: Move): Promise<{ from: number | null; to: number }> =>
  orCannot('the position is not moved', async () => {
    // Positions are not events: they need no encoding and no registry.
    await using log = await openKafka(settings, memoryCodec());
    return await movePosition(log, move);
  });

const LOOK_MS = 2_000;

/** Transactions that will not end by themselves: looks for as long as one may live (20 s). Throws CannotProceed. */
export const findHanging = (settings: KafkaSettings): Promise<readonly Hanging[]> =>
  orCannot('it is unknown whether a transaction hangs', async () => {
    await using log = await openKafka(settings, memoryCodec());
    const look = hangingTransactions(log, Object.keys(catalogue));
    const begun = performance.now();
    for (;;) {
      const found = await look(performance.now());
      if (performance.now() - begun > HANGS_AFTER_MS + LOOK_MS) return found;
      await sleep(LOOK_MS);
    }
  });

export type FleetControl = 'HALT_FLEET' | 'RESUME_FLEET';

/** Writes a command for the whole fleet to the log itself. Throws CannotProceed where Kafka or the registry does not answer. */
export const writeDirect = (
  settings: DirectSettings,
  type: FleetControl,
  payload: { readonly by: string; readonly why: string },
): Promise<WrittenCommand> =>
  orCannot(`${type} is not written`, async () => {
    await using log = await openLog(settings, [Topic.controlFleet]);
    const [eventId = ''] = await writer(log, Date.now).write([
      { topic: Topic.controlFleet, type, key: 'fleet', payload },
    ]);
    return { eventId, topic: Topic.controlFleet, type, key: 'fleet', alsoFor: [], eventIds: [eventId] };
  });
