import type { Supervised } from '../agent/agent-instance.ts';
import { takeOver } from '../agent/supervise.ts';
import type { AgentDeps } from '../deps.ts';
import { stoppedBy, takeStopMarker } from '../exit/exit-reason.ts';
import { socketPath } from '../messages/agent-socket.ts';
import {
  type AgentOrder,
  exitReport,
  type Order,
  type RepeatableOrder,
  type SpawnOrder,
  type Terminate,
} from '../orders/order.ts';
import { answer, answerSpawn } from '../orders/receipts.ts';
import { removeCgroup } from '../process/cgroup.ts';
import { type Ending, endProcess } from '../process/end-process.ts';
import type { Pid } from '../process/proc.ts';
import type { Begun } from '../state/journal.ts';
import { forget, type Occupant, occupantOf, orphansOf } from '../state/lock.ts';

/** What to do about an order that a dead supervisor had begun. */
export type Remedy =
  | { readonly kind: 'report_uncertain'; readonly order: AgentOrder; readonly why: string }
  | { readonly kind: 'end_again'; readonly order: Terminate; readonly pid: Pid }
  | { readonly kind: 'report_spawned'; readonly order: SpawnOrder; readonly ptyHost: Occupant }
  | { readonly kind: 'spawn_uncertain'; readonly order: SpawnOrder; readonly why: string }
  /** nothing came of it: it may be done when it is offered again */
  | { readonly kind: 'forget'; readonly orderId: string };

const spawnRemedyOf = (order: SpawnOrder, ptyHost: Occupant | null): Remedy => {
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
      return spawnRemedyOf(order, ptyHost);
  }
};

/** Ends what is left of an agent whose supervisor died. */
const endRest = async (
  deps: AgentDeps,
  leader: Pid,
  instanceId: string | null,
  cgroup: string | null,
): Promise<Ending> => {
  const tree = { leader, socket: socketPath(deps.socketDir, instanceId ?? ''), cgroup };
  const ending = await endProcess(tree, { graceMs: 0, killAfterMs: deps.killAfterMs }, deps.clock);
  if (cgroup !== null) removeCgroup(cgroup);
  return ending;
};

const remedy = async (deps: AgentDeps, begun: Begun): Promise<void> => {
  const occupant = occupantOf(deps.dir, begun.order.payload.agentId);
  const found = remedyOf(begun, occupant);
  switch (found.kind) {
    case 'report_uncertain':
      return answer(deps, found.order, 'uncertain', { why: found.why });
    case 'end_again': {
      const { instanceId } = found.order.payload;
      const cgroup = occupant?.instanceId === instanceId ? occupant.cgroup : null;
      const ending = await endRest(deps, found.pid, instanceId, cgroup);
      const why = 'ended after its supervisor had died';
      return answer(deps, found.order, ending.confirmed ? 'done' : 'failed', { ...ending, why });
    }
    case 'report_spawned':
      return answerSpawn(deps, found.order, 'spawned', { instanceId: found.ptyHost.instanceId });
    case 'spawn_uncertain':
      return answerSpawn(deps, found.order, 'uncertain', { why: found.why });
    case 'forget':
      return;
  }
};

/** Whether an order is of this type and of this instance. */
const isOf =
  <T extends RepeatableOrder['type']>(type: T, instanceId: string) =>
  (order: Order): order is Extract<RepeatableOrder, { type: T }> =>
    order.type === type && order.payload.instanceId === instanceId;

/** The terminate order that had been begun for this instance. */
const endOf = ({ journal }: AgentDeps, { instanceId }: Pick<Occupant, 'instanceId'>): Terminate | null =>
  journal.unfinished.map(({ order }) => order).find(isOf('TERMINATE_AGENT', instanceId)) ?? null;

/** The order that had been begun for this instance and is completed: its end, else the resume of its session. */
const repeatableOrderOf = (deps: AgentDeps, one: Pick<Occupant, 'instanceId'>): RepeatableOrder | null =>
  endOf(deps, one) ??
  deps.journal.unfinished.map(({ order }) => order).find(isOf('RESUME_SESSION', one.instanceId)) ??
  null;

/** Who requested the end of an agent at this host before its supervisor died; null: it was not requested. */
const endRequesterOf = (dir: string, { instanceId, endRequestedBy }: Occupant): string | null => {
  const who = takeStopMarker(dir, instanceId);
  return endRequestedBy ?? (who === null ? null : stoppedBy(who));
};

/** Its terminal died too, so it can be neither reached nor watched any more. A person's end takes the place of one by an order. */
const reportLost = async (deps: AgentDeps, orphan: Occupant, order: Terminate | null): Promise<void> => {
  if (orphan.child) await endRest(deps, orphan.child, orphan.instanceId, orphan.cgroup);
  const requester = endRequesterOf(deps.dir, orphan);
  const held = orphan.ptyHost === null ? '' : `, and so did the PTY host of its terminal (${orphan.ptyHost.pid})`;
  const died = `its supervisor (${orphan.supervisor.pid}) died${held}`;
  deps.outbox.put(
    exitReport(orphan, {
      reason: order === null && requester === null ? 'crashed' : 'explicit',
      at: deps.clock.now(),
      orderId: requester === null ? (order?.payload.orderId ?? null) : null,
      details: [requester, died, 'what was left of it has been ended'].filter((words) => words !== null).join('; '),
    }),
  );
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
    deps.logger('an agent is not taken over: it continues without a supervisor', {
      agentId: orphan.agentId,
      why: String(error),
    });
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
