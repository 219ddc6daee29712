import type { EventOf, Topic } from '@vigil/events';

/** What sinks are told of. */
export type AlertEvent = Extract<
  EventOf<typeof Topic.alert>,
  { readonly type: 'ALERT_RAISED' | 'ALERT_UPDATED' | 'ALERT_RESOLVED' }
>;

/**
 * A way to people. At least once: `eventId` is the key under which a repetition is known. Rejects with InVain where telling this again
 * changes nothing; with TryLater, or anything else, where it is to be told again.
 */
export type Sink = { readonly name: string; readonly deliver: (telling: AlertEvent) => Promise<void> };

/** The way is closed for now. `afterMs`: how long it asks to be left alone; null: it does not say. */
export class TryLater extends Error {
  override readonly name = 'TryLater';
  readonly afterMs: number | null;
  constructor(message: string, afterMs: number | null = null) {
    super(message);
    this.afterMs = afterMs;
  }
}

/** It will not be taken, however often: somebody has to change the channel's configuration first. */
export class Undeliverable extends Error {
  override readonly name = 'InVain';
}
