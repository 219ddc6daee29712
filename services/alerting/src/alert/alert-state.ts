import type { Draft, EventOf, PayloadOf, PolicyRef, Topic } from '@vigil/events';
import type { Open, Silence } from './due.ts';
import { type Routing, SINK_FAILING } from './routing.ts';

export type Settings = {
  /** how long an alert gathers related notices before sinks are notified, milliseconds */
  readonly groupWaitMs: number;
  /** how often sinks are notified again of an alert without an acknowledgement, milliseconds */
  readonly repeatMs: number;
  readonly routing: Routing;
};

export type Input = EventOf<typeof Topic.notify | typeof Topic.controlAlerts>;
export type Output = Draft<typeof Topic.alert>;

export type Dismissed = PayloadOf<typeof Topic.alert, 'TICKET_DISMISSED'>;

/**
 * When the newest raise, and the newest end, happened: epoch milliseconds on the broker's clock, 0: never.
 * Several topics report an alert, and a service that catches up reads one of them before another.
 */
export type Times = { readonly raised: number; readonly over: number };

export const NO_TIMES: Times = { raised: 0, over: 0 };

/** Agents of one task share its alert; the reports about each have their own times. */
export type OfAgent = { readonly agentId: string; readonly times: Times; readonly isOpen: boolean };

/** One alert key: at most one alert open at a time. */
export type Alert = {
  readonly alertKey: string;
  readonly correlationId: string;
  readonly policy: PolicyRef | null;
  readonly open: Open | null;
  readonly silence: Silence | null;
  readonly times: Times;
  /** of stuck_agent and task_blocked: the agents that it was reported of, the newest last; absent: none */
  readonly agents?: readonly OfAgent[];
  /** of these: when the whole task was last over, for all of its agents; absent: never */
  readonly taskOver?: number;
  /** until when a late end is kept for a key without an alert; absent: none is kept */
  readonly keptUntil?: number;
};

export const initial: Alert = {
  alertKey: '',
  correlationId: '',
  policy: null,
  open: null,
  silence: null,
  times: NO_TIMES,
};

/** Commands count in their order, and so do reports of sinks' processes, which have their own clocks. */
const isDated = (input: Input): input is Extract<Input, { readonly type: 'NOTIFY' }> =>
  input.type === 'NOTIFY' && input.payload.route !== SINK_FAILING;

export const timesAfter = (times: Times, input: Input): Times => {
  if (!isDated(input)) return times;
  const { occurredAt: at } = input;
  switch (input.payload.action) {
    case 'raise':
      return at > times.raised ? { ...times, raised: at } : times;
    case 'resolve':
      return at > times.over ? { ...times, over: at } : times;
    case 'dismiss':
    case 'settle':
    case 'UNKNOWN':
      return times;
  }
};

/** The input happened before a contrary one. In the same millisecond the later record counts. */
export const isBefore = (times: Times, input: Input): boolean => {
  if (!isDated(input)) return false;
  switch (input.payload.action) {
    case 'raise':
      return input.occurredAt < times.over;
    case 'resolve':
      return input.occurredAt < times.raised;
    case 'dismiss':
    case 'settle':
    case 'UNKNOWN':
      return false;
  }
};
