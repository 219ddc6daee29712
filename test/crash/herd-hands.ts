import { setTimeout as sleep } from 'node:timers/promises';
import { type Draft, type EventOf, type ExitReason, type OrderKind, Topic } from '@vigil/events';
import type { TestSystem } from '../support/system.ts';
import { type HerdAgent, RUNTIME } from './herd-agent.ts';

type Order = EventOf<typeof Topic.agentOrder>;
type Spawn = Extract<Order, { readonly type: 'SPAWN_AGENT' }>;
type Report = (said: Draft) => Promise<unknown>;

/** The runtime of the herd: carries out each order once, however often it hears of it, and reports until it is heard. */
export type Hands = {
  /** how often each order was carried out */
  readonly done: ReadonlyMap<string, number>;
  readonly reportExit: (agent: HerdAgent, reason: ExitReason, orderId: string | null) => Promise<void>;
};

const ANNOUNCE_MS = 10_000;

const insist = async (report: Report, said: Draft, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted)
    try {
      await report(said);
      return;
    } catch {
      await sleep(500);
    }
};

const exited = (agent: HerdAgent, reason: ExitReason, orderId: string | null): Draft => ({
  topic: Topic.steerAgent,
  type: 'AGENT_EXITED',
  key: agent.agentId,
  payload: {
    agentId: agent.agentId,
    instanceId: agent.instanceId,
    taskId: agent.taskId,
    runtimeId: RUNTIME,
    code: reason === 'crashed' ? 1 : null,
    signal: reason === 'crashed' ? null : 'SIGTERM',
    reason,
    at: Date.now(),
    orderId,
    details: null,
    checkpoint: null,
    lastOutput: [],
    forensics: null,
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
    runtimeId: RUNTIME,
    outcome: kind === 'terminate' ? 'done' : 'delivered',
    why: null,
    at: Date.now(),
    confirmed: kind === 'terminate',
    forced: false,
    code: null,
    signal: null,
    claimsReleased: [],
    checkpoint: null,
    completedWork: [],
    remainingWork: [],
    forensics: null,
    lastOutput: [],
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
    runtimeId: RUNTIME,
    outcome: 'spawned',
    why: null,
    at: Date.now(),
    agentId: payload.agentId,
    instanceId: `${payload.agentId}.i1`,
    checkpointId: null,
    skipped: [],
  },
});

const announced = (agents: readonly HerdAgent[]): Draft => ({
  topic: Topic.runtimePresence,
  type: 'RUNTIME_ANNOUNCED',
  key: 'fleet',
  payload: {
    runtimeId: RUNTIME,
    host: RUNTIME,
    capacity: 10_000,
    agents: agents.filter(({ gone }) => !gone).map(({ agentId }) => agentId),
    labels: {},
  },
});

/** Spawned agents are put to `agents`, and work on. */
export const startHands = async (
  on: TestSystem,
  agents: HerdAgent[],
  report: Report,
  signal: AbortSignal,
): Promise<Hands> => {
  const done = new Map<string, number>();
  const tell = (said: Draft): Promise<void> => insist(report, said, signal);
  const reportExit: Hands['reportExit'] = (agent, reason, orderId) => tell(exited(agent, reason, orderId));
  const terminate = async (order: Exclude<Order, Spawn>): Promise<void> => {
    await tell(receipt(order, 'terminate'));
    const agent = agents.find(({ instanceId }) => instanceId === order.payload.instanceId);
    if (agent === undefined || agent.gone) return;
    agent.gone = true;
    await reportExit(agent, 'explicit', order.payload.orderId);
  };
  const spawn = async (order: Spawn): Promise<void> => {
    const { agentId, taskId, attempt } = order.payload;
    const fresh = {
      fate: 'works',
      fatefulAt: Number.POSITIVE_INFINITY,
      door: 'kafka',
      sequence: 0,
      gone: false,
    } as const;
    agents.push({ ...fresh, agentId, instanceId: `${agentId}.i1`, taskId: taskId ?? agentId, attempt });
    await tell(spawned(order));
  };
  const obey = (order: Order): Promise<void> => {
    const times = (done.get(order.payload.orderId) ?? 0) + 1;
    done.set(order.payload.orderId, times);
    if (times > 1) return Promise.resolve();
    if (order.type === 'SPAWN_AGENT') return spawn(order);
    if (order.type === 'TERMINATE_AGENT') return terminate(order);
    return tell(receipt(order, 'nudge'));
  };
  const announce = (): void => void report(announced(agents)).catch(() => {});
  announce();
  const announcing = setInterval(announce, ANNOUNCE_MS);
  signal.addEventListener('abort', () => clearInterval(announcing), { once: true });
  const hear = (record: Parameters<Parameters<typeof on.log.follow>[2]>[0]): void => {
    if (record.value === null || record.key === null || record.key.startsWith('@')) return;
    const { type, payload } = on.log.codec.decode(Topic.agentOrder, record.value);
    void obey({ type, payload } as Order);
  };
  await on.log.follow([Topic.agentOrder], 'end', hear, signal);
  return { done, reportExit };
};
