import type { Draft, EventOf, PayloadOf, PolicyRef, Topic, TriagedTicket } from '@vigil/events';
import type { Content } from './content.ts';
import type { Open, Silence } from './due.ts';
import type { Routing } from './routing.ts';

export type Settings = {
  /** how long an alert gathers what belongs to it before sinks are told, milliseconds */
  readonly groupWaitMs: number;
  /** how often sinks are told again of what nobody has acknowledged, milliseconds */
  readonly repeatMs: number;
  readonly routing: Routing;
};

export type Input = EventOf<typeof Topic.notify | typeof Topic.controlAlerts>;
export type Output = Draft<typeof Topic.alert>;

/** What has just been heard, and is not answered yet. `isOver`: it was over before it was heard. */
export type PendingChange =
  | {
      readonly kind: 'raise';
      readonly content: Content;
      readonly id: string;
      readonly at: number;
      readonly isOver: boolean;
    }
  | { readonly kind: 'resolve'; readonly title: string; readonly text: string }
  | { readonly kind: 'acknowledge'; readonly by: string }
  | ({ readonly kind: 'silence'; readonly by: string; readonly why: string } & Silence);

export type Dismissed = PayloadOf<typeof Topic.alert, 'TICKET_DISMISSED'>;

/**
 * When the newest that was raised, and the newest that was over, happened: epoch milliseconds on the broker's clock, 0: never. An alert
 * is told of by several topics, and whoever catches up reads one of them before another.
 */
export type Times = { readonly raised: number; readonly over: number };

export const NO_TIMES: Times = { raised: 0, over: 0 };

/** Agents of one task share its alert; what was told of each is dated by itself. */
export type OfAgent = { readonly agentId: string; readonly times: Times; readonly isOpen: boolean };

/** One alert key: at most one alert open at a time. */
export type Alert = {
  readonly alertKey: string;
  readonly correlationId: string;
  readonly policy: PolicyRef | null;
  readonly open: Open | null;
  readonly silence: Silence | null;
  readonly times: Times;
  /** of stuck_agent and task_blocked: of which agents it was reported, the newest last; absent: none */
  readonly agents?: readonly OfAgent[];
  /** of these: when the task as a whole was last over, whichever of its agents had raised them; absent: never */
  readonly taskOver?: number;
  /** nothing was told of the key, and an end that was read late is kept until then; absent: otherwise */
  readonly keptUntil?: number;
  readonly change: PendingChange | null;
  /** for which people have been asked in, and not yet told */
  readonly operatorReview: TriagedTicket | null;
  /** a ticket with which nobody is disturbed, not yet said */
  readonly dismissed: Dismissed | null;
};

const nobody = { correlationId: '', policy: null, open: null, silence: null, times: NO_TIMES };
export const initial: Alert = { alertKey: '', ...nobody, change: null, operatorReview: null, dismissed: null };
