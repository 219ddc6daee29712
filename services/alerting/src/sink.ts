import type { EventOf, Topic } from '@vigil/events';

/** What sinks are told of. */
export type Telling = Extract<
  EventOf<typeof Topic.alert>,
  { readonly type: 'ALERT_RAISED' | 'ALERT_UPDATED' | 'ALERT_RESOLVED' }
>;

/**
 * A way to people. At least once: `eventId` is the key under which a repetition is known. Rejects with Retry where it is to be asked again, with
 * DeadLetter where that is in vain.
 */
export type Sink = { readonly name: string; readonly tell: (telling: Telling) => Promise<void> };
