import { setTimeout as sleep } from 'node:timers/promises';
import { catalogue, memoryCodec } from '@vigil/events';
import {
  applyTopics,
  connectLog,
  HANGS_AFTER_MS,
  type Hanging,
  hangingTransactions,
  type Move,
  movePosition,
  silentLogger,
  type TopicReport,
} from '@vigil/stream';
import { CannotProceed } from './errors.ts';

const orCannot = async <T>(what: string, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (cause) {
    throw new CannotProceed(`${what}: ${(cause as Error).message}`, { cause });
  }
};

/** What differs between the topics as they are and as they are to be; `change`: and makes it so. Throws CannotAsk. */
export const changeTopics = (
  brokers: readonly string[],
  { partitions, replicas }: { readonly partitions: number; readonly replicas: number },
  change: boolean,
): Promise<TopicReport> =>
  orCannot('the topics cannot be compared', applyTopics({ brokers, partitions, replicas, dryRun: !change }));

/** Moves a processor's position. Throws CannotAsk, with the reason where it is refused. */
export const reset = (brokers: readonly string[], move: Move): Promise<{ from: number | null; to: number }> =>
  orCannot(
    'the position is not moved',
    (async () => {
      // Positions are not events: they need no encoding and no registry.
      await using log = await connectLog({
        brokers,
        clientId: 'vigil-cli',
        codec: memoryCodec(),
        logger: silentLogger,
      });
      return await movePosition(log, move);
    })(),
  );

const LOOK_MS = 2_000;

/** Transactions that will not end by themselves: looks for as long as one may live (20 s). Throws CannotAsk. */
export const findHanging = (brokers: readonly string[]): Promise<readonly Hanging[]> =>
  orCannot(
    'it is unknown whether a transaction hangs',
    (async () => {
      await using log = await connectLog({
        brokers,
        clientId: 'vigil-cli',
        codec: memoryCodec(),
        logger: silentLogger,
      });
      const look = hangingTransactions(log, Object.keys(catalogue));
      const begun = performance.now();
      for (;;) {
        const found = await look(performance.now());
        if (performance.now() - begun > HANGS_AFTER_MS + LOOK_MS) return found;
        await sleep(LOOK_MS);
      }
    })(),
  );
