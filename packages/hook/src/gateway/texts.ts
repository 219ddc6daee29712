import type { OrderReceiptPayload } from '@vigil/events';
import type { AskAtStop } from '@vigil/health/proof';
import { type Finding, noProgress, overtaken, type Progress } from '@vigil/sdk/progress';
import { noEnd } from '@vigil/sdk/receipts';
import type { Who } from '../session/agents.ts';

/** As the gateway offers it. */
export type Order = {
  readonly type: string;
  readonly expiresInMs: number;
  readonly payload: Finding & {
    readonly orderId: string;
    readonly agentId: string;
    readonly instanceId: string | null;
    readonly runtimeId: string;
    readonly message?: string;
    readonly name?: string;
  };
};

const kinds: Readonly<Record<string, OrderReceiptPayload['kind']>> = {
  NUDGE_AGENT: 'nudge',
  PROBE_AGENT: 'probe',
  HANDOFF_AGENT: 'handoff',
  RESET_BREAKER: 'reset_breaker',
};

/** For this instance of the agent, and not answered yet. */
const isOpen = (payload: Order['payload'], who: Who, done: readonly string[]): boolean =>
  payload.agentId === who.agentId && payload.instanceId === who.instanceId && !done.includes(payload.orderId);

export const textsAmong = (orders: readonly Order[], who: Who, done: readonly string[]): readonly Order[] =>
  orders.filter(
    ({ type, payload }) =>
      Object.hasOwn(kinds, type) && typeof payload.message === 'string' && isOpen(payload, who, done),
  );

/** Breakers that are to be closed. */
export const resetsAmong = (orders: readonly Order[], who: Who, done: readonly string[]): readonly Order[] =>
  orders.filter(({ type, payload }) => type === 'RESET_BREAKER' && isOpen(payload, who, done));

/** Why a text is not delivered any more; null: it is delivered. */
export const lateness = (
  { expiresInMs, payload }: Order,
  progress: Progress = noProgress,
): 'expired' | 'superseded' | null => {
  if (expiresInMs <= 0) return 'expired';
  return overtaken(progress, payload) ? 'superseded' : null;
};

export const receiptOf = (
  { type, payload }: Order,
  outcome: OrderReceiptPayload['outcome'],
  why: string | null,
  at: number,
): OrderReceiptPayload => ({
  orderId: payload.orderId,
  kind: kinds[type] ?? 'UNKNOWN',
  agentId: payload.agentId,
  instanceId: payload.instanceId,
  runtimeId: payload.runtimeId,
  outcome,
  why,
  at,
  ...noEnd,
});

/** What the gateway's answer to a heartbeat asks of an agent that ends its turn; null: nothing. */
export const askAtStopIn = (answer: unknown): AskAtStop | null => {
  const asked = (answer as { askAtStop?: { needsCheck?: unknown } | null } | null)?.askAtStop;
  return asked ? { needsCheck: asked.needsCheck === true } : null;
};
