import { setTimeout as sleep } from 'node:timers/promises';
import { typeOf } from './client.ts';

/** Right after a topic is made, or while its leader moves, a broker refuses a request for a moment. */
const MOMENTARY: ReadonlySet<string> = new Set([
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'UNKNOWN_TOPIC_OR_PARTITION',
]);

export const isMomentary = (error: unknown): boolean => MOMENTARY.has(typeOf(error));

/** A cluster gives the partitions of a broker that died to others after 9 s. */
const MOMENT_MS = 10_000;
/** Each try waits so much longer than the one before it. */
const STEP_MS = 200;

/** Repeats a request while brokers refuse it for a moment, for up to 10 s. Throws what the last one threw. */
export const pastMoment = async <T>(request: () => Promise<T>): Promise<T> => {
  const end = performance.now() + MOMENT_MS;
  for (let tries = 1; ; tries++)
    try {
      return await request();
    } catch (error) {
      if (performance.now() > end || !isMomentary(error)) throw error;
      await sleep(tries * STEP_MS);
    }
};
