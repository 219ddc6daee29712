import { setTimeout as sleep } from 'node:timers/promises';
import { type Draft, type ExitReason, type OrderKind, Topic } from '@vigil/events';
import { noEnd } from '@vigil/sdk/receipts';
import type { HerdAgent } from './agent.ts';
import type { Channel, Order } from './channel.ts';

export type Spawn = Extract<Order, { readonly type: 'SPAWN_AGENT' }>;

/**
 * The runtime of the herd. It executes each order once, even if it receives it repeatedly, and repeats each report
 * until it is accepted.
 */
export type Executor = {
  /** how often each order was executed */
  readonly done: ReadonlyMap<string, number>;
  readonly reportExit: (agent: HerdAgent, reason: ExitReason, orderId: string | null) => Promise<void>;
  /** accepts no more agents */
  readonly close: () => Promise<void>;
};

/** The agents of the executor. `take`: adds spawned agents, which work; `onNudge`: delivers a nudge. */
export type Body = {
  readonly runtimeId: string;
  readonly agents: readonly HerdAgent[];
  readonly take: (spawned: Spawn) => void;
  readonly onNudge: (agent: HerdAgent) => void;
};

const ANNOUNCE_MS = 10_000;
const CAPACITY = 10_000;

const insist = async ({ report }: Channel, draft: Draft, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted)
    try {
      await report(draft);
      return;
    } catch {
      await sleep(500);
    }
};

const exited = (agent: HerdAgent, reason: ExitReason, orderId: string | null): Draft => ({
  topic: Topic.controlAgent,
  type: 'AGENT_EXITED',
  key: agent.agentId,
  payload: {
    agentId: agent.agentId,
    instanceId: agent.instanceId,
    taskId: agent.taskId,
    runtimeId: agent.runtimeId,
    code: reason === 'crashed' ? 1 : null,
    signal: reason === 'crashed' ? null : 'SIGTERM',
    reason,
    at: Date.now(),
    orderId,
    details: null,
    checkpoint: null,
    lastOutput: [],
    forensics: null,
    policy: null,
    labels: {},
  },
});

const receipt = ({ payload }: Exclude<Order, Spawn>, kind: OrderKind): Draft => ({
  topic: Topic.orderReceipt,
  type: 'ORDER_RECEIPT',
  key: payload.agentId,
  payload: {
    orderId: payload.orderId,
    kind,
    agentId: payload.agentId,
    instanceId: payload.instanceId,
    runtimeId: payload.runtimeId,
    outcome: kind === 'terminate' ? 'done' : 'delivered',
    why: null,
    at: Date.now(),
    ...noEnd,
    confirmed: kind === 'terminate',
  },
});

const spawned = ({ payload }: Spawn): Draft => ({
  topic: Topic.spawnReceipt,
  type: 'SPAWN_RECEIPT',
  key: payload.taskId ?? payload.agentId,
  payload: {
    orderId: payload.orderId,
    requestId: payload.requestId,
    taskId: payload.taskId ?? payload.agentId,
    attempt: payload.attempt,
    runtimeId: payload.runtimeId,
    outcome: 'spawned',
    why: null,
    at: Date.now(),
    agentId: payload.agentId,
    instanceId: `${payload.agentId}.i1`,
    checkpointId: null,
    skipped: [],
  },
});

const announced = ({ runtimeId, agents }: Body, capacity: number): Draft => ({
  topic: Topic.runtimePresence,
  type: 'RUNTIME_ANNOUNCED',
  key: 'fleet',
  payload: {
    runtimeId,
    host: runtimeId,
    capacity,
    agents: agents.filter(({ gone }) => !gone).map(({ agentId }) => agentId),
    labels: {},
    templates: [{ task: '*', labels: {} }],
  },
});

/** Resolves once it receives orders. */
export const startExecutor = async (channel: Channel, body: Body, signal: AbortSignal): Promise<Executor> => {
  const { agents, take, onNudge } = body;
  const done = new Map<string, number>();
  const send = (draft: Draft): Promise<void> => insist(channel, draft, signal);
  const instanceOf = ({ payload }: Order) => agents.find(({ instanceId }) => instanceId === payload.instanceId);
  const reportExit: Executor['reportExit'] = (agent, reason, orderId) => send(exited(agent, reason, orderId));
  const terminate = async (order: Exclude<Order, Spawn>): Promise<void> => {
    await send(receipt(order, 'terminate'));
    const agent = instanceOf(order);
    if (agent === undefined || agent.gone) return;
    agent.gone = true;
    await reportExit(agent, 'explicit', order.payload.orderId);
  };
  const nudge = (order: Exclude<Order, Spawn>): Promise<void> => {
    const agent = instanceOf(order);
    if (agent !== undefined && !agent.gone) onNudge(agent);
    return send(receipt(order, 'nudge'));
  };
  const obey = (order: Order): Promise<void> => {
    const times = (done.get(order.payload.orderId) ?? 0) + 1;
    done.set(order.payload.orderId, times);
    if (times > 1) return Promise.resolve();
    if (order.type === 'SPAWN_AGENT') {
      take(order);
      return send(spawned(order));
    }
    return order.type === 'TERMINATE_AGENT' ? terminate(order) : nudge(order);
  };
  const announce = (): void => void channel.report(announced(body, CAPACITY)).catch(() => {});
  announce();
  const announcing = setInterval(announce, ANNOUNCE_MS);
  signal.addEventListener('abort', () => clearInterval(announcing), { once: true });
  await channel.receive((order) => void obey(order), signal);
  return { done, reportExit, close: () => send(announced(body, 0)) };
};
