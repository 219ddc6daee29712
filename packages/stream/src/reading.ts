import { type Codec, type HealthEvent, UnknownSchemaId } from '@vigil/events';
import { eventOf } from './inputs.ts';
import type { LogRecord } from './log.ts';

/** Does it again after what it did not know was learned. Throws what `learn` throws. */
export const learning = async <T>(codec: Codec, job: () => T): Promise<T> => {
  for (;;) {
    try {
      return job();
    } catch (error) {
      if (!(error instanceof UnknownSchemaId)) throw error;
      await codec.learn(error);
    }
  }
};

/** Marks of the runners and tombstones say nothing to readers outside. */
export const isEvent = ({ key, value }: LogRecord): boolean => value !== null && key !== null && !key.startsWith('@');

/** Decodes a record, learning its schema first where need be. Throws DeadLetter or Undecodable where it cannot be read. */
export const readEvent = (codec: Codec, record: LogRecord): Promise<HealthEvent> =>
  learning(codec, () => eventOf(record, codec));
