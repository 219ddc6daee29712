import { adapterNamed, adapters } from '@vigil/adapters';
import {
  type Adapter,
  decisionBy,
  eventsOfAnswer,
  eventsOfDecision,
  type HookAdapter,
  type HookPayload,
  type HookRequest,
  type HookText,
} from '@vigil/adapters/adapter';
import { asId } from '@vigil/adapters/names';
import type { SessionEvent } from '@vigil/adapters/session';
import type { OrderReceiptPayload } from '@vigil/events';
import { questionAtStop } from '@vigil/health/proof';
import { acceptHeartbeats, acceptReceipts, type GatewayContext } from '../http/answers.ts';
import { authorizeSession } from '../http/claims.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../http/tokens.ts';
import { ask, LONGEST_REQUEST_MS, withdrawHook } from '../requests/ask.ts';
import type { SessionIdentity } from '../sessions/sessions.ts';
import type { OrderEnvelope } from '../state/pending-orders.ts';

/** One hook event. `agent` and `task`: what the headers name; a variable that the client's environment does not have is empty. */
export type SentHook = {
  readonly client: string;
  readonly agent: string | undefined;
  readonly task: string | undefined;
  readonly payload: unknown;
};

/** What the client is answered; `printed` records whether the texts in it were sent. */
export type HookAnswer = {
  readonly answer: string | null;
  readonly printed: (isSent: boolean) => Promise<void>;
};

/** A client that posts its hooks asks once: the whole wait is one request. */
const ASKED_AGAIN_MS = LONGEST_REQUEST_MS + 60_000;

const posting = adapters.filter(({ install }) => install.http !== null).map(({ name }) => name);

const kinds = { NUDGE_AGENT: 'nudge', PROBE_AGENT: 'probe', HANDOFF_AGENT: 'handoff' } as const;

const payloadOf = (body: unknown): HookPayload => {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as HookPayload;
  throw new Problem(
    400,
    'bad_hook',
    'the body is not a hook event; send the JSON object that the client gives its hooks',
  );
};

const identityOf = ({ client, agent, task }: SentHook, session: string, principal: Principal): SessionIdentity => {
  const own = principal.kind === 'agent' ? principal.name : `${client}-${session}`;
  return {
    client,
    sessionId: session,
    agentId: asId(agent || own),
    taskId: task ? asId(task) : null,
    policy: null,
    labels: {},
    eventDriven: false,
  };
};

/** `receipt`: without what the schema has by default */
type Text = {
  readonly text: HookText;
  readonly receipt: Pick<OrderReceiptPayload, 'orderId'> & Partial<OrderReceiptPayload>;
};

const textOf = ({ type, expiresInMs, payload }: OrderEnvelope, agentId: string, at: number): readonly Text[] => {
  if (expiresInMs <= 0 || payload.agentId !== agentId) return [];
  if (type !== 'NUDGE_AGENT' && type !== 'PROBE_AGENT' && type !== 'HANDOFF_AGENT') return [];
  const { orderId, instanceId, runtimeId } = payload;
  if (!('message' in payload) || typeof payload.message !== 'string') return [];
  const { message } = payload;
  return [
    {
      text: { orderId, text: message },
      receipt: { orderId, kind: kinds[type], agentId, instanceId, runtimeId, outcome: 'delivered', at },
    },
  ];
};

/** Why the call that an event begins is not to be made; null: it may be made, or the event begins none. */
const refusalOf = (
  { policies, limits }: GatewayContext,
  adapter: HookAdapter,
  payload: HookPayload,
  { agentId, taskId, labels, policy: requestedPolicy }: SessionIdentity,
  now: number,
): string | null => {
  if (!adapter.abilities(payload).canRefuse) return null;
  return limits.refusal(
    {
      agentId,
      taskId,
      policy: policies.assignedTo({ agentId, labels, requestedPolicy })?.name ?? null,
    },
    now,
  );
};

/** What its agent is asked before the turn ends that an event ends; null: nothing. */
const questionOf = ({ policies, sessions }: GatewayContext, session: SessionIdentity): string | null => {
  const { agentId, labels, policy: requestedPolicy } = session;
  const ask = policies.assignedTo({ agentId, labels, requestedPolicy })?.askAtStop ?? null;
  return questionAtStop(sessions.proofOf(session), ask);
};

/** A refused call begins and ends at once: it is neither in flight nor a failure. */
const withRefusal = (event: SessionEvent): readonly SessionEvent[] => {
  if (event.kind !== 'call_started') return [event];
  const { call_id: callId, tool, args_hash: argsHash } = event.call;
  return [event, { kind: 'call_refused', call: { callId, tool, argsHash }, at: event.at, agent: event.agent }];
};

/** Reports facts of a session, and gives the orders for its agent; null: there is nothing to report. */
const report = async (
  context: GatewayContext,
  principal: Principal,
  session: SessionIdentity,
  events: readonly SessionEvent[],
): Promise<readonly OrderEnvelope[] | null> => {
  const now = context.now();
  const heartbeats = context.sessions.fold(session, { source: 'hooks', events, readings: [], beganAt: now }, now);
  return heartbeats.length === 0 ? null : (await acceptHeartbeats(context, principal, heartbeats)).orders;
};

const endOf = ({ at, agent }: SessionEvent): SessionEvent => ({ kind: 'last_answer_seen', wakes: false, at, agent });

/** What people decide on the request of a hook event, while the client waits; `printed` ends its wait, or withdraws where it does not wait any more. */
const decided = async (
  context: GatewayContext,
  principal: Principal,
  { name, hooks }: Pick<Adapter, 'name' | 'hooks'>,
  { payload, session, requestId, gone }: Pending,
  request: HookRequest,
): Promise<HookAnswer> => {
  const { agentId, taskId, sessionId } = session;
  const who = { requestId, agentId, instanceId: asId(sessionId), taskId, labels: {}, policy: null };
  const body = { ...who, client: name, ...request, waitMs: LONGEST_REQUEST_MS };
  const { answer, over } = await ask(context, principal, body, ASKED_AGAIN_MS, gone);
  const decision = decisionBy(answer);
  return {
    answer: decision === null ? null : hooks.decision(payload, decision),
    printed: async (isSent) => {
      over(isSent);
      if (!isSent) return withdrawHook(context, body, 'the client does not wait any more');
      if (decision === null) return;
      await report(context, principal, session, eventsOfDecision(hooks, payload, request, decision, context.now()));
    },
  };
};

type Pending = {
  readonly payload: HookPayload;
  readonly session: SessionIdentity;
  readonly requestId: string;
  readonly gone: AbortSignal;
};

/**
 * A session's hook event: its facts are reported when every replica has them, and texts that wait go with the answer. A request to people is
 * answered when they have decided. `gone`: the client does not wait any more. Throws Problem.
 */
export const acceptHook = async (
  context: GatewayContext,
  principal: Principal,
  sent: SentHook,
  requestId: string,
  gone: AbortSignal,
): Promise<HookAnswer> => {
  const adapter = adapterNamed(sent.client);
  if (adapter === undefined || adapter.install.http === null)
    throw new Problem(404, 'no_such_client', `${sent.client} posts no hooks; those that do: ${posting.join(', ')}`);
  const payload = payloadOf(sent.payload);
  const sessionId = adapter.hooks.sessionOf(payload);
  if (sessionId === null) throw new Problem(400, 'bad_hook', 'the hook event names no session_id');
  const session = identityOf(sent, sessionId, principal);
  authorizeSession(principal, session);
  const now = context.now();
  const refusal = refusalOf(context, adapter.hooks, payload, session, now);
  const nothing: HookAnswer = { answer: adapter.hooks.answer(payload, [], refusal), printed: async () => {} };
  if (context.agentRegistry.isWatched(session.agentId, now)) return nothing;
  const events = adapter.hooks.eventsOf(payload, now);
  const folded = refusal === null ? events : events.flatMap(withRefusal);
  const orders = await report(context, principal, session, folded);
  const request = refusal === null ? adapter.hooks.requestOf(payload, null) : null;
  if (request !== null) return decided(context, principal, adapter, { payload, session, requestId, gone }, request);
  if (orders === null) return nothing;
  const { takesText, continuesTurn } = adapter.hooks.abilities(payload);
  if (!takesText) return nothing;
  const question = continuesTurn ? questionOf(context, session) : null;
  const { textsInFlight } = context;
  const texts = orders
    .flatMap((order) => textOf(order, session.agentId, context.now()))
    .filter(({ text }) => !textsInFlight.has(text.orderId));
  for (const { text } of texts) textsInFlight.add(text.orderId);
  const isOver = (): void => {
    for (const { text } of texts) textsInFlight.delete(text.orderId);
  };
  const words = [...texts.map(({ text }) => text.text), ...(question === null ? [] : [question])];
  const following = eventsOfAnswer(adapter.hooks, payload, words.length, context.now());
  await report(context, principal, session, following).catch((error: unknown) => {
    isOver();
    throw error;
  });
  return {
    answer: adapter.hooks.answer(payload, words, refusal),
    printed: async (isSent) => {
      if (isSent && question !== null) context.sessions.asked(session);
      const receipts = texts.map(({ receipt }) =>
        isSent
          ? receipt
          : {
              ...receipt,
              outcome: 'uncertain' as const,
              why: 'the connection of its hook broke before the answer was sent',
            },
      );
      // The text is not offered again, even if its receipt is not accepted.
      for (const { orderId } of receipts)
        if (orderId !== null) context.pendingOrders.observeReceipt(orderId, context.now());
      const body = receipts.map((one) => ({ type: 'ORDER_RECEIPT', payload: one }));
      if (body.length > 0) await acceptReceipts(context, principal, body).finally(isOver);
      // A client that did not get the answer has ended its turn, unless it has gone on since.
      if (!isSent) await report(context, principal, session, following.map(endOf));
    },
  };
};
