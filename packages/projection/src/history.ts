import { type Database, deleteHealthyMinutes, keepDays, projectedUpTo } from '@vigil/read-model';
import type { Logger } from '@vigil/stream';

/** How many days of history are kept: VIGIL_HISTORY_DAYS of the projector and of a rebuild. */
export const HISTORY_DAYS = { least: 1, most: 3650, usual: 30 } as const;

const EVERY_MS = 60_000;
/** Of so many calls one looks at all minutes again, because a minute may be written after its span was tidied. */
const ALL_EVERY = 60;

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

/** From when the call looks at minutes. `calls`: those before it; `last`: what the last one returned. */
export const sinceOf = (calls: number, last: number | null): number | null => (calls % ALL_EVERY === 0 ? null : last);

/** Tidies once a minute, one at a time. A failure is logged, and the next minute tries again. */
export const keepHistory = (database: Database, days: number, logger: Logger): Disposable => {
  let isTidying = false;
  let last: number | null = null;
  let calls = 0;
  const run = async (): Promise<void> => {
    if (isTidying) return;
    isTidying = true;
    try {
      last = await tidy(database, days, sinceOf(calls, last));
      calls += 1;
    } catch (err) {
      logger.warn({ err }, 'the history of old days could not be dropped');
    } finally {
      isTidying = false;
    }
  };
  const timer = setInterval(() => void run(), EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
};
