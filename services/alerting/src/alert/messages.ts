import type { Draft, EventOf, PayloadOf, Topic } from '@vigil/events';
import type { Routing } from './routing.ts';

export type Settings = {
  /** how long an alert gathers related notices before sinks are notified, milliseconds */
  readonly groupWaitMs: number;
  /** how long an end waits at least before sinks are notified, also where the group wait is shorter, milliseconds */
  readonly endWaitMs: number;
  /** how often sinks are notified again of an alert without an acknowledgement, milliseconds */
  readonly repeatMs: number;
  readonly routing: Routing;
};

export type Input = EventOf<typeof Topic.notify | typeof Topic.controlAlerts>;
export type Output = Draft<typeof Topic.alert>;

export type Dismissed = PayloadOf<typeof Topic.alert, 'TICKET_DISMISSED'>;
