import type { Supervised } from '../agent/agent-instance.ts';
import { delayAfter, pause } from '../clock.ts';
import type { GatewayDeps, ReceiptDeps } from '../deps.ts';
import type { TerminalLease } from '../live-terminal/leases.ts';
import { type AgentOrder, isOrder, type OrderEnvelope, type SpawnOrder } from './order.ts';
import { answer, receiptIn } from './receipts.ts';

const POLL_SECONDS = 25;

/** Where orders go: to the instance that they name, or to the part that spawns. */
export type OrderTargets = {
  readonly runtimeId: string;
  readonly instances: () => Iterable<Supervised>;
  /** one of that name works here, and could not be taken over yet */
  readonly isLeftAlone: (agentId: string) => boolean;
  /** `policy`: the name of the policy that led to it; null: unknown */
  readonly spawn: (order: SpawnOrder, expiresInMs: number, policy: string | null) => void;
  /** a spawn that is not to be begun, where it has not */
  readonly recallSpawn: (order: SpawnOrder) => void;
};

/** Answers an order that no instance here carries out, so that its sender does not wait. A repeated order gets the same answer. */
const refuse = (deps: ReceiptDeps, order: AgentOrder, outcome: 'failed' | 'superseded', why: string): void => {
  const payload = receiptIn(deps, order.payload.orderId);
  if (payload) deps.outbox.put({ type: 'ORDER_RECEIPT', payload });
  else answer(deps, order, outcome, { why });
};

const notHere = ({ payload }: AgentOrder): string =>
  `no instance ${payload.instanceId} of ${payload.agentId} runs here`;
const NO_WAY_IN = 'a sub-agent has no terminal and no process of its own: order its parent agent instead';

/** The instance that it names, else the one that has the name now, which answers for the others. */
const instanceFor = ({ payload }: AgentOrder, instances: readonly Supervised[]): Supervised | undefined => {
  const named = instances.filter(({ spec }) => spec.agentId === payload.agentId);
  return named.find(({ spec }) => spec.instanceId === payload.instanceId) ?? named.at(-1);
};

/** Passes each order to its instance. An order of a kind unknown to this version is not answered, and expires. */
export const dispatch = (
  deps: ReceiptDeps,
  { runtimeId, instances, isLeftAlone, spawn, recallSpawn }: OrderTargets,
  envelopes: readonly OrderEnvelope[],
): void => {
  for (const { expiresInMs, isRecalled, policy, ...order } of envelopes) {
    if (!isOrder(order)) deps.logger('an order of an unknown kind is left alone', { order });
    else if (order.payload.runtimeId !== runtimeId)
      deps.logger('an order for another runtime is left to it', { order });
    else if (order.type === 'SPAWN_AGENT') isRecalled ? recallSpawn(order) : spawn(order, expiresInMs, policy);
    else {
      const all = [...instances()];
      const instance = instanceFor(order, all);
      if (instance) isRecalled ? instance.recall(order) : instance.offer(order, expiresInMs);
      // Unanswered it is offered again, to the supervisor that the agent has by then.
      else if (isLeftAlone(order.payload.agentId)) continue;
      else if (all.some((one) => one.hasSubagent(order.payload.agentId))) refuse(deps, order, 'failed', NO_WAY_IN);
      else refuse(deps, order, 'superseded', notHere(order));
    }
  }
};

/** `away`: the gateway answers no more. */
export type PollEvents = {
  readonly away: () => void;
  readonly terminals: (leases: readonly TerminalLease[]) => void;
};

/** Long polls until the signal fires. */
export const pollOrders = async (
  deps: GatewayDeps,
  runtimeId: string,
  signal: AbortSignal,
  on: PollEvents,
): Promise<void> => {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const began = deps.clock.monotonic();
      const { orders, terminals } = await deps.gateway.orders(runtimeId, POLL_SECONDS, signal);
      deps.onOrders(orders);
      on.terminals(terminals);
      failures = 0;
      await pause(Math.max(0, 200 - (deps.clock.monotonic() - began)), signal);
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      if (failures === 1) {
        deps.logger('orders cannot be asked for', { runtimeId, error: String(error) });
        on.away();
      }
      await pause(delayAfter(error, failures), signal);
    }
  }
};
