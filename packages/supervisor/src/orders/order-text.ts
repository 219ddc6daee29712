import type { AgentOrder } from './order.ts';

/** A text for the agent, and the order that it is of. */
export type Text = { readonly orderId: string; readonly message: string };

/** What an order is there to tell the agent: none, where it does something instead. */
export const textOf = (order: AgentOrder): readonly Text[] => {
  switch (order.type) {
    case 'NUDGE_AGENT':
    case 'PROBE_AGENT':
    case 'HANDOFF_AGENT':
      return [{ orderId: order.payload.orderId, message: order.payload.message }];
    case 'PAUSE_AGENT':
    case 'RESUME_AGENT':
    case 'INTERRUPT_AGENT':
    case 'RESUME_SESSION':
    case 'RESET_BREAKER':
    case 'TERMINATE_AGENT':
      return [];
  }
};
