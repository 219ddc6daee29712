import { type EventOf, Topic, Undecodable } from '@vigil/events';
import { isEvent, type Log, type LogRecord, readEvent } from '@vigil/stream';
import { deliveryOf } from './delivery.ts';

/** How far back from the end a delivery can lie whose group's position was not written yet, records. */
const LOOK_BACK = 5000;

/** Recent deliveries: a reactor that starts a little before its end does not repeat them. */
export async function deliveredIn(log: Log): Promise<Set<string>> {
  const records: LogRecord[] = [];
  for (const [partition, { low, high }] of (await log.bounds(Topic.alert)).entries()) {
    const range = { low: Math.max(low, high - LOOK_BACK), high };
    const keep = (record: LogRecord) => void records.push(record);
    if (high > low) await log.read(Topic.alert, partition, range, keep, new AbortController().signal);
  }
  const delivered = new Set<string>();
  for (const record of records) {
    const one = await deliveryIn(log, record);
    if (one !== null) delivered.add(one);
  }
  return delivered;
}

async function deliveryIn(log: Log, record: LogRecord): Promise<string | null> {
  if (!isEvent(record)) return null;
  try {
    const { type, payload } = (await readEvent(log.codec, record)) as EventOf<typeof Topic.alert>;
    return type === 'ALERT_DELIVERED' && payload.ok ? deliveryOf(payload.sink, payload.ofEventId) : null;
  } catch (error) {
    if (error instanceof Undecodable) return null;
    throw error;
  }
}
