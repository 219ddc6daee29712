import { type Database, deleteHealthyMinutes, keepDays, projectedUpTo } from '@vigil/read-model';
import type { Logger } from '@vigil/stream';

/** How many days of history are kept: VIGIL_HISTORY_DAYS of the projector and of a rebuild. */
export const HISTORY_DAYS = { least: 1, most: 3650, usual: 30 } as const;

const EVERY_MS = 60_000;

/**
 * Makes the next days, drops those that are more than `days` old, and deletes the minutes of HEALTHY agents. By the time
 * of the log only.
 */
export const tidy = async (database: Database, days: number): Promise<void> => {
  const upTo = await projectedUpTo(database);
  if (upTo === null) return;
  await keepDays(database, upTo, days);
  await deleteHealthyMinutes(database, upTo);
};

/** Tidies once a minute, one at a time. A failure is logged, and the next minute tries again. */
export const keepHistory = (database: Database, days: number, logger: Logger): Disposable => {
  let isTidying = false;
  const run = async (): Promise<void> => {
    if (isTidying) return;
    isTidying = true;
    try {
      await tidy(database, days);
    } catch (err) {
      logger.warn({ err }, 'the history of old days could not be dropped');
    } finally {
      isTidying = false;
    }
  };
  const timer = setInterval(() => void run(), EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
};
