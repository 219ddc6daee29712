import { type EventOf, Topic } from '@vigil/events';
import type { Log, LogRecord } from '@vigil/stream';
import { eventIn } from './alert-events.ts';
import type { AlertEvent } from './sink.ts';

/** The newest events of alerts. */
export type NewestAlerts = {
  /** the newest event of the same alert, if it is later than this one; null: none is known */
  readonly after: (event: AlertEvent) => AlertEvent | null;
};

/** Alerts that are remembered; the one without an event for longest is dropped. */
const MOST_ALERTS = 5000;

const isAlert = (event: EventOf<typeof Topic.alert>): event is AlertEvent =>
  event.type === 'ALERT_RAISED' || event.type === 'ALERT_UPDATED' || event.type === 'ALERT_RESOLVED';

/** Events of one alert are numbered. Those without a number are from no decider. */
const isLater = (one: AlertEvent, than: AlertEvent): boolean =>
  one.version !== null && than.version !== null && one.version > than.version;

/**
 * Follows the alerts from now on. A sink delivers the events of an alert one after another, and so does not see by
 * itself that a later one has come while it waits.
 */
export const followNewestAlerts = async (
  log: Log,
  { now, signal }: { readonly now: () => number; readonly signal: AbortSignal },
): Promise<NewestAlerts> => {
  const newest = new Map<string, AlertEvent>();
  const observe = async (record: LogRecord): Promise<void> => {
    const event = await eventIn(log, record);
    if (event === null || !isAlert(event)) return;
    const { alertId } = event.payload;
    const known = newest.get(alertId);
    if (known !== undefined && !isLater(event, known)) return;
    newest.delete(alertId);
    newest.set(alertId, event);
    const [oldest] = newest.keys();
    if (newest.size > MOST_ALERTS && oldest !== undefined) newest.delete(oldest);
  };
  let reading = Promise.resolve();
  await log.follow(
    [Topic.alert],
    now(),
    (record) => {
      reading = reading.then(() => observe(record)).catch(() => {});
    },
    signal,
  );
  return {
    after: (event) => {
      const known = newest.get(event.payload.alertId);
      return known !== undefined && isLater(known, event) ? known : null;
    },
  };
};
