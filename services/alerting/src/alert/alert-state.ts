import type { PolicyRef, TriagedTicket } from '@vigil/events';
import type { Content } from './content.ts';
import type { Open } from './due.ts';
import type { Gates } from './gates.ts';
import type { Input } from './messages.ts';
import { OF_VIGIL } from './routing.ts';

/**
 * When the newest raise, and the newest end, happened: epoch milliseconds on the broker's clock, 0: never.
 * Several topics report an alert, and a service that catches up reads one of them before another.
 */
export type Times = { readonly raised: number; readonly over: number };

export const NO_TIMES: Times = { raised: 0, over: 0 };

/** Agents of one task share its alert; the reports about each have their own times. */
export type OfAgent = { readonly agentId: string; readonly times: Times; readonly isOpen: boolean };

/** It is raised at `at`, unless its end arrives before. `id`: of the notice. */
export type Awaited = { readonly id: string; readonly at: number; readonly content: Content };

/** The newest ticket of a key, as the rules of triage decided it. `noticeId`: of the notice that has it. */
export type RuledTicket = {
  readonly ticket: TriagedTicket;
  readonly ruling: 'raise' | 'dismiss';
  readonly noticeId: string;
  readonly content: Content;
};

/** What a request of an agent asks. `expiredAt` null: it waits for an answer. */
export type Asked = { readonly requestId: string; readonly text: string; readonly expiredAt: number | null };

/** One alert key: at most one alert open at a time. */
export type Alert = {
  readonly kind: 'alert';
  readonly alertKey: string;
  readonly correlationId: string;
  readonly policy: PolicyRef | null;
  readonly open: Open | null;
  /** absent: nothing is awaited */
  readonly awaited?: Awaited;
  /** of warrant_waiting: the open case that has taken a step; absent: none */
  readonly workingCase?: string;
  readonly times: Times;
  /** of stuck_agent and task_blocked: the agents that it was reported of, the newest last; absent: none */
  readonly agents?: readonly OfAgent[];
  /** of these: when the whole task was last over, for all of its agents; absent: never */
  readonly taskOver?: number;
  /** of awaiting_input: the requests of its agent that wait for an answer, the newest last; absent: none */
  readonly requests?: readonly Content[];
  /** of awaiting_input: what its agent has asked, of requests that wait, and of the newest one whose deadline has passed; absent: nothing */
  readonly asked?: readonly Asked[];
  /** of escalation_ticket: the ticket that a model may still assess; absent: none */
  readonly ruled?: RuledTicket;
  /** until when a key without an alert is kept, for a late notice or a model's answer; absent: an alert is open, or the state is older than this */
  readonly keptUntil?: number;
};

/** The state of a key: an alert, or what holds back the deliveries of all. */
export type AlertingState = Alert | Gates;

export const initial: Alert = {
  kind: 'alert',
  alertKey: '',
  correlationId: '',
  policy: null,
  open: null,
  times: NO_TIMES,
};

/** Commands count in their order, and so do reports of sinks' processes, which have their own clocks. */
const isDated = (input: Input): input is Extract<Input, { readonly type: 'NOTIFY' }> =>
  input.type === 'NOTIFY' && !OF_VIGIL.has(input.payload.route);

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
    case 'inhibit':
    case 'release':
    case 'hold':
    case 'unhold':
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
    case 'inhibit':
    case 'release':
    case 'hold':
    case 'unhold':
    case 'UNKNOWN':
      return false;
  }
};
