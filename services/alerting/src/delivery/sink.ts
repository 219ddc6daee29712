import type { EventOf, Topic } from '@vigil/events';
import type { KIND_SETTINGS, SinkKind } from '@vigil/policy/channels';
import type { Logger } from '@vigil/stream';
import type { z } from 'zod';
import { GROUP_ROUTE } from '../alert/gates.ts';
import type { OpenAlert } from './open-alerts.ts';

/** The events that sinks receive. */
export type AlertEvent = Extract<
  EventOf<typeof Topic.alert>,
  { readonly type: 'ALERT_RAISED' | 'ALERT_UPDATED' | 'ALERT_RESOLVED' }
>;

/**
 * Delivers alerts to people, at least once: `eventId` is the key that identifies a repetition. Rejects with Undeliverable if
 * another attempt cannot succeed; with TryLater, or any other error, if it can.
 */
export type Sink = {
  readonly name: string;
  readonly deliver: (event: AlertEvent) => Promise<void>;
  /** Whether it gets quiet updates: its target shows one alert in place, or is a program. */
  readonly updatesInPlace: boolean;
  /** A person has acknowledged an alert that it received; null: its target has no such state. */
  readonly acknowledge: ((event: Acknowledged) => Promise<void>) | null;
  /** Work beside the deliveries, until it is disposed; null: none. */
  readonly run: ((running: Running) => Promise<AsyncDisposable>) | null;
};

export type Acknowledged = Extract<EventOf<typeof Topic.alert>, { readonly type: 'ALERT_ACKNOWLEDGED' }>;

/** What work beside the deliveries may use. */
export type Running = {
  readonly logger: Logger;
  /** the open alerts that a sink has received */
  readonly openFor: (sink: string) => readonly OpenAlert[];
  /** whether time flows through all services, so that what is open is known */
  readonly timeFlows: () => boolean;
};

/** The sink is unavailable for now. `afterMs`: the pause that it requests; null: none. */
export class TryLater extends Error {
  override readonly name = 'TryLater';
  readonly afterMs: number | null;
  constructor(message: string, afterMs: number | null = null) {
    super(message);
    this.afterMs = afterMs;
  }
}

/** The sink refuses for good: its configuration has to be changed first. */
export class Undeliverable extends Error {
  override readonly name = 'Undeliverable';
}

/** The effects of a sink, as arguments, so that tests can pass their own. */
export type SinkDeps = {
  /** where people reach the dashboard */
  readonly dashboardUrl: string;
  /** the key that signs decision links; null: alerts have none */
  readonly linkKey: string | null;
  /** the names of the channels to Linear, which move the issue of a blocked task */
  readonly linearChannels: readonly string[];
  /** epoch milliseconds */
  readonly now: () => number;
  /** the environment: it holds the secrets, the file does not */
  readonly env: Readonly<Record<string, string | undefined>>;
};

/**
 * A kind of sink: the settings of its channels, and how to open one. `open` throws Refused with what to do.
 */
export type Kind<K extends SinkKind> = {
  readonly settings: (typeof KIND_SETTINGS)[K];
  readonly open: (name: string, settings: z.output<(typeof KIND_SETTINGS)[K]>, deps: SinkDeps) => Sink;
};

/** An update that only removes an answered question, or has another count of a group. It does not disturb people. */
export const isQuiet = ({ type, payload }: AlertEvent): boolean => type === 'ALERT_UPDATED' && payload.isQuiet;

/** Another count of a group. One comes every few seconds while its alerts begin. */
export const isCount = (event: AlertEvent): boolean => isQuiet(event) && event.payload.route === GROUP_ROUTE;

/** A sink without acknowledgements, and without work beside the deliveries, that cannot change what it has sent. */
export const deliveringTo = (name: string, deliver: Sink['deliver']): Sink => ({
  name,
  deliver,
  updatesInPlace: false,
  acknowledge: null,
  run: null,
});
