import type { Logger } from '@vigil/chassis';
import { type Codec, type EventOf, type HealthEvent, Topic, Undecodable, UnknownSchemaId } from '@vigil/events';
import type { Log, LogRecord } from '@vigil/stream';
import type { Board } from './board.ts';
import type { Policies } from './policies.ts';
import type { Waits } from './waits.ts';

const tailed = [Topic.agentOrder, Topic.orderReceipt, Topic.spawnReceipt, Topic.policy] as const;
type Tailed = EventOf<(typeof tailed)[number]>;

type Around = { readonly board: Board; readonly waits: Waits; readonly policies: Policies };

/** What a record changes here. Any order of records, and any repetition, leads to the same. */
const observe = ({ board, waits, policies }: Around, event: Tailed, { timestamp, offset }: LogRecord): void => {
  switch (event.type) {
    case 'ORDER_RECEIPT':
    case 'SPAWN_RECEIPT':
      board.observeReceipt(event.payload.orderId, timestamp);
      return;
    case 'POLICY_PUBLISHED':
      policies.observe(event, offset);
      return;
    case 'POLICY_REFUSED':
      return;
    case 'NUDGE_AGENT':
    case 'PROBE_AGENT':
    case 'HANDOFF_AGENT':
    case 'PAUSE_AGENT':
    case 'RESUME_AGENT':
    case 'RESET_BREAKER':
    case 'TERMINATE_AGENT':
    case 'SPAWN_AGENT':
      board.observeOrder(event, timestamp);
      waits.wake(event.payload.runtimeId);
  }
};

/**
 * Follows orders, receipts and policies without a group, and reads what is there already. Resolves when all that was written before the
 * call has been seen. Following begins first: what is written meanwhile is seen at least once.
 */
export const tail = async (log: Log, around: Around, logger: Logger, signal: AbortSignal): Promise<void> => {
  const pending = new Set<Promise<void>>();
  const onRecord = (record: LogRecord): void => {
    const read = apply(log.codec, around, record, logger).finally(() => pending.delete(read));
    pending.add(read);
  };
  await log.follow(tailed, 'end', onRecord, signal);
  await Promise.all(tailed.map((topic) => readAll(log, topic, onRecord, signal)));
  await Promise.all(pending);
};

const readAll = async (
  log: Log,
  topic: string,
  onRecord: (record: LogRecord) => void,
  signal: AbortSignal,
): Promise<void> => {
  const ranges = await log.bounds(topic);
  await Promise.all(ranges.map((range, partition) => log.read(topic, partition, range, onRecord, signal)));
};

const apply = async (codec: Codec, around: Around, record: LogRecord, logger: Logger): Promise<void> => {
  if (record.value === null || record.key === null || record.key.startsWith('@')) return;
  try {
    observe(around, await eventOf(codec, record, record.value), record);
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error;
    const { topic, partition, offset } = record;
    logger.warn({ err: error, topic, partition, offset }, 'a record that cannot be read is passed over');
  }
};

const eventOf = async (codec: Codec, { topic, key }: LogRecord, value: Buffer): Promise<Tailed> => {
  const decode = () => codec.decode(topic as Tailed['topic'], value);
  let decoded: ReturnType<typeof decode>;
  try {
    decoded = decode();
  } catch (error) {
    if (!(error instanceof UnknownSchemaId)) throw error;
    await codec.learn(error);
    decoded = decode();
  }
  const { type, payload, envelope } = decoded;
  return { ...envelope, topic, type, key, payload } as HealthEvent as Tailed;
};
