import type { AgentOrder, SpawnOrder } from '../orders/order.ts';
import type { Pid } from '../process/proc.ts';
import type { Begun } from '../state/journal.ts';
import type { Occupant } from '../state/lock.ts';

/** What to do about an order that a dead supervisor had begun. */
export type Remedy =
  | { readonly kind: 'report_uncertain'; readonly order: AgentOrder; readonly why: string }
  | { readonly kind: 'end_again'; readonly order: Extract<AgentOrder, { type: 'TERMINATE_AGENT' }>; readonly pid: Pid }
  | { readonly kind: 'report_spawned'; readonly order: SpawnOrder; readonly ptyHost: Occupant }
  | { readonly kind: 'spawn_uncertain'; readonly order: SpawnOrder; readonly why: string }
  /** nothing came of it: it may be done when it is offered again */
  | { readonly kind: 'forget'; readonly orderId: string };

const spawn = (order: SpawnOrder, ptyHost: Occupant | null): Remedy => {
  if (ptyHost?.orderId !== order.payload.orderId) return { kind: 'forget', orderId: order.payload.orderId };
  if (ptyHost.child) return { kind: 'report_spawned', order, ptyHost };
  return { kind: 'spawn_uncertain', order, why: 'the supervisor died while it was starting the agent' };
};

/** `ptyHost`: the occupant of the name of the order's agent. A text is not repeated; an end is, because that is safe. */
export const remedyOf = ({ order, pid }: Begun, ptyHost: Occupant | null): Remedy => {
  switch (order.type) {
    case 'NUDGE_AGENT':
    case 'PROBE_AGENT':
    case 'HANDOFF_AGENT':
    case 'PAUSE_AGENT':
    case 'RESUME_AGENT':
    case 'INTERRUPT_AGENT':
    case 'RESUME_SESSION':
    case 'RESET_BREAKER':
      return {
        kind: 'report_uncertain',
        order,
        why: 'the supervisor died while it was doing this; it is not repeated',
      };
    case 'TERMINATE_AGENT':
      return pid
        ? { kind: 'end_again', order, pid }
        : { kind: 'report_uncertain', order, why: 'the journal has no process for this order' };
    case 'SPAWN_AGENT':
      return spawn(order, ptyHost);
  }
};
