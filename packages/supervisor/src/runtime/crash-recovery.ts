import type { SpawnReceiptPayload } from '@vigil/events';
import type { Supervised } from '../agent/agent-instance.ts';
import { takeOver } from '../agent/supervise-hosted.ts';
import type { AgentDeps } from '../deps.ts';
import { stoppedBy, takeStopMarker } from '../exit/stop-marker.ts';
import { socketPath } from '../messages/agent-socket.ts';
import type { RepeatableOrder, Terminate } from '../orders/order.ts';
import { type Order, type SpawnOrder, spawnReceiptOf } from '../orders/order.ts';
import { answer } from '../orders/receipts.ts';
import { endProcess } from '../process/end-process.ts';
import type { Begun } from '../state/journal.ts';
import { forget, type Occupant, occupantOf, orphansOf } from '../state/lock.ts';
import { remedyOf } from './unfinished-orders.ts';

/** In the journal first, as every answer. */
export const answerSpawn = (
  deps: AgentDeps,
  order: SpawnOrder,
  outcome: SpawnReceiptPayload['outcome'],
  more: Partial<SpawnReceiptPayload>,
): void => {
  const report = { type: 'SPAWN_RECEIPT', payload: spawnReceiptOf(order, deps.clock.now(), outcome, more) } as const;
  deps.journal.write({ kind: 'done', orderId: order.payload.orderId, report });
  deps.outbox.put(report);
  deps.log('an order is answered', {
    type: order.type,
    orderId: order.payload.orderId,
    outcome,
    why: report.payload.why,
  });
};

const remedy = async (deps: AgentDeps, begun: Begun): Promise<void> => {
  const found = remedyOf(begun, occupantOf(deps.dir, begun.order.payload.agentId));
  switch (found.kind) {
    case 'report_uncertain':
      answer(deps, found.order, 'uncertain', { why: found.why });
      return;
    case 'end_again': {
      const socket = socketPath(deps.socketDir, found.order.payload.instanceId ?? '');
      const ending = await endProcess(
        { leader: found.pid, socket },
        { graceMs: 0, killAfterMs: deps.killAfterMs },
        deps.clock,
      );
      answer(deps, found.order, ending.confirmed ? 'done' : 'failed', {
        ...ending,
        why: 'ended after its supervisor had died',
      });
      return;
    }
    case 'report_spawned':
      answerSpawn(deps, found.order, 'spawned', { instanceId: found.ptyHost.instanceId });
      return;
    case 'spawn_uncertain':
      answerSpawn(deps, found.order, 'uncertain', { why: found.why });
      return;
    case 'forget':
      return;
  }
};

type Instance = Pick<Occupant, 'instanceId'>;

const isEndOf = (order: Order, { instanceId }: Instance): order is Terminate =>
  order.type === 'TERMINATE_AGENT' && order.payload.instanceId === instanceId;

/** The terminate order that had been begun for this instance. */
const endOf = ({ journal }: AgentDeps, one: Instance): Terminate | null =>
  journal.unfinished.map(({ order }) => order).find((order) => isEndOf(order, one)) ?? null;

/** The order that had been begun for this instance and is completed: its end, else the resume of its session. */
const repeatableOrderOf = (deps: AgentDeps, one: Instance): RepeatableOrder | null => {
  const orders = deps.journal.unfinished.map(({ order }) => order);
  const isResume = (order: Order): order is RepeatableOrder =>
    order.type === 'RESUME_SESSION' && order.payload.instanceId === one.instanceId;
  return endOf(deps, one) ?? orders.find(isResume) ?? null;
};

/** Who requested the end of an agent at this host before its supervisor died; null: it was not requested. */
const endRequesterOf = (dir: string, { instanceId, endRequestedBy }: Occupant): string | null => {
  const who = takeStopMarker(dir, instanceId);
  return endRequestedBy ?? (who === null ? null : stoppedBy(who));
};

/** Its terminal died too, so it can be neither reached nor watched any more. A person's end takes the place of one by an order. */
const reportLost = async (deps: AgentDeps, orphan: Occupant, order: Terminate | null): Promise<void> => {
  const socket = socketPath(deps.socketDir, orphan.instanceId);
  if (orphan.child)
    await endProcess({ leader: orphan.child, socket }, { graceMs: 0, killAfterMs: deps.killAfterMs }, deps.clock);
  const requester = endRequesterOf(deps.dir, orphan);
  const held = orphan.ptyHost === null ? '' : `, and so did the PTY host of its terminal (${orphan.ptyHost.pid})`;
  deps.outbox.put({
    type: 'AGENT_EXITED',
    payload: {
      agentId: orphan.agentId,
      instanceId: orphan.instanceId,
      taskId: orphan.taskId,
      runtimeId: orphan.runtimeId,
      code: null,
      signal: null,
      reason: order === null && requester === null ? 'crashed' : 'explicit',
      at: deps.clock.now(),
      orderId: requester === null ? (order?.payload.orderId ?? null) : null,
      details: [
        requester,
        `its supervisor (${orphan.supervisor.pid}) died${held}`,
        'what was left of it has been ended',
      ]
        .filter((words) => words !== null)
        .join('; '),
      checkpoint: null,
      lastOutput: [],
      forensics: null,
      policy: null,
      labels: {},
    },
  });
  forget(deps.dir, orphan.agentId);
};

type Taken =
  | { readonly kind: 'instance'; readonly instance: Supervised }
  | { readonly kind: 'lost' | 'left_alone'; readonly orphan: Occupant };

/** An agent that another supervisor has by now, or that cannot be taken over, is left alone: it works, and the others do not wait for it. */
const taken = async (deps: AgentDeps, orphan: Occupant): Promise<Taken> => {
  try {
    const instance = await takeOver(deps, orphan, repeatableOrderOf(deps, orphan));
    return instance === null ? { kind: 'lost', orphan } : { kind: 'instance', instance };
  } catch (error) {
    deps.log('an agent is not taken over: it goes on as it is', { agentId: orphan.agentId, why: String(error) });
    return { kind: 'left_alone', orphan };
  }
};

/** Answers all of `begun` but what continues with an instance, or will when that is taken over. Gives the agents that were left alone. */
const settle = async (
  deps: AgentDeps,
  orphans: readonly Occupant[],
  begun: readonly Begun[],
  adopt: (instance: Supervised) => void,
): Promise<readonly Occupant[]> => {
  // At once: each of them is silent until all are taken over.
  const all = await Promise.all(orphans.map((orphan) => taken(deps, orphan)));
  const instances = all.flatMap((one) => (one.kind === 'instance' ? [one.instance] : []));
  const leftAlone = all.flatMap((one) => (one.kind === 'left_alone' ? [one.orphan] : []));
  instances.forEach(adopt);
  const continues = [...instances.map(({ spec }) => spec), ...leftAlone];
  const repeated = new Set(continues.map((one) => repeatableOrderOf(deps, one)?.payload.orderId));
  for (const one of begun) if (!repeated.has(one.orderId)) await remedy(deps, one);
  for (const one of all) if (one.kind === 'lost') await reportLost(deps, one.orphan, endOf(deps, one.orphan));
  for (const instance of instances) instance.begin();
  return leftAlone;
};

/**
 * Cleans up after a supervisor of this runtime that died. Agents whose terminal still exists are supervised again,
 * and passed to `adopt` before any of them sends a heartbeat. Begun orders are answered; the rest of other agents is
 * ended.
 * Returns the agents that could not be taken over: they keep running, and `settleLeftAlone` looks at them again.
 */
export const recoverFromCrash = (
  deps: AgentDeps,
  runtimeId: string,
  adopt: (instance: Supervised) => void,
): Promise<readonly Occupant[]> => settle(deps, orphansOf(deps.dir, runtimeId), deps.journal.unfinished, adopt);

/** The same for those that were left alone the last time. */
export const recoverLeftAlone = (
  deps: AgentDeps,
  leftAlone: readonly Occupant[],
  adopt: (instance: Supervised) => void,
): Promise<readonly Occupant[]> => {
  const waiting = new Set(leftAlone.map((one) => repeatableOrderOf(deps, one)?.payload.orderId));
  const begun = deps.journal.unfinished.filter(({ orderId }) => waiting.has(orderId));
  return settle(deps, leftAlone, begun, adopt);
};
