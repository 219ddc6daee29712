import { Topic, type TopicName } from '@vigil/events';
import { type Database, saveProjected } from '@vigil/read-model';
import type { Logger } from '@vigil/stream';

/** How often an advance is stored, milliseconds. A tick each second is one advance, so it is stored once. */
export const STORE_MS = 250;

/**
 * Stores how far the rows are complete, soon after each advance. The time is that of the evaluator's topic: its
 * ticks have passed through ingest and evaluator. So it stands still if any of them, the broker or the projector does.
 */
export const storeProjected = (
  database: Database,
  logger: Logger,
): Disposable & {
  readonly onTime: (topic: TopicName, partition: number, time: number) => void;
  /** Stores it now. */
  readonly save: () => Promise<void>;
} => {
  const unsaved = new Map<number, number>();
  let saving = false;
  const save = async (): Promise<void> => {
    if (saving || unsaved.size === 0) return;
    saving = true;
    const entries = [...unsaved];
    unsaved.clear();
    try {
      for (const [partition, time] of entries) await saveProjected(database, partition, time);
    } catch (err) {
      logger.warn({ err }, 'how far the rows are complete could not be stored');
    } finally {
      saving = false;
    }
  };
  const timer = setInterval(() => void save(), STORE_MS);
  return {
    onTime: (topic, partition, time) => {
      if (topic === Topic.agentHealth) unsaved.set(partition, time);
    },
    save,
    [Symbol.dispose]: () => clearInterval(timer),
  };
};
