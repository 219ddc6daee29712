import { type Database, deleteHealthyMinutes, keepDays, projectedUpTo } from '@vigil/read-model';
import type { Logger } from '@vigil/stream';

/** How many days of history are kept: VIGIL_HISTORY_DAYS of the projector and of a rebuild. */
export const HISTORY_DAYS = { least: 1, most: 3650, usual: 30 } as const;

const EVERY_MS = 60_000;

/**
 * Makes the next days, drops those that are more than `days` old, and deletes the minutes of HEALTHY agents. By the time
 * of the log only. `since`: the result of the last call of this process; null: all minutes. Returns the time up to which
 * the rows are tidy; null: nothing is projected yet.
 */
export const tidy = async (database: Database, days: number, since: number | null): Promise<number | null> => {
  const upTo = await projectedUpTo(database);
  if (upTo === null) return since;
  await keepDays(database, upTo, days);
  await deleteHealthyMinutes(database, { since, upTo });
  return upTo;
};

/** Tidies once a minute, one at a time. A failure is logged, and the next minute tries again. */
export const keepHistory = (database: Database, days: number, logger: Logger): Disposable => {
  let isTidying = false;
  let since: number | null = null;
  const run = async (): Promise<void> => {
    if (isTidying) return;
    isTidying = true;
    try {
      since = await tidy(database, days, since);
    } catch (err) {
      logger.warn({ err }, 'the history of old days could not be dropped');
    } finally {
      isTidying = false;
    }
  };
  const timer = setInterval(() => void run(), EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
};
