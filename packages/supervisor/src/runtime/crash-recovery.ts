import type { SpawnReceiptPayload } from '@vigil/events';
import type { Supervised } from '../agent/agent-instance.ts';
import { takeOver } from '../agent/supervise-hosted.ts';
import type { AgentDeps } from '../deps.ts';
import { socketPath } from '../messages/agent-socket.ts';
import type { Again, Terminate } from '../orders/order.ts';
import { type Order, type SpawnOrder, spawnReceiptOf } from '../orders/order.ts';
import { answer } from '../orders/receipts.ts';
import { endProcess } from '../process/end-process.ts';
import type { Begun } from '../state/journal.ts';
import { forget, type Occupant, occupantOf, orphansOf } from '../state/lock.ts';
import { remedyOf } from './unfinished-orders.ts';

/** In the journal first, as every answer. */
export const answerSpawn = (
  world: AgentDeps,
  order: SpawnOrder,
  outcome: SpawnReceiptPayload['outcome'],
  more: Partial<SpawnReceiptPayload>,
): void => {
  const report = { type: 'SPAWN_RECEIPT', payload: spawnReceiptOf(order, world.clock.now(), outcome, more) } as const;
  world.journal.write({ kind: 'done', orderId: order.payload.orderId, report });
  world.outbox.put(report);
  world.log('an order is answered', {
    type: order.type,
    orderId: order.payload.orderId,
    outcome,
    why: report.payload.why,
  });
};

const remedy = async (world: AgentDeps, begun: Begun): Promise<void> => {
  const found = remedyOf(begun, occupantOf(world.dir, begun.order.payload.agentId));
  switch (found.do) {
    case 'report_uncertain':
      answer(world, found.order, 'uncertain', { why: found.why });
      return;
    case 'end_again': {
      const socket = socketPath(world.socketDir, found.order.payload.instanceId ?? '');
      const ending = await endProcess(
        { leader: found.pid, socket },
        { graceMs: 0, killAfterMs: world.killAfterMs },
        world.clock,
      );
      answer(world, found.order, ending.confirmed ? 'done' : 'failed', {
        ...ending,
        why: 'ended after its supervisor had died',
      });
      return;
    }
    case 'report_spawned':
      answerSpawn(world, found.order, 'spawned', { instanceId: found.holder.instanceId });
      return;
    case 'spawn_uncertain':
      answerSpawn(world, found.order, 'uncertain', { why: found.why });
      return;
    case 'forget':
      return;
  }
};

type Instance = Pick<Occupant, 'instanceId'>;

const isEndOf = (order: Order, { instanceId }: Instance): order is Terminate =>
  order.type === 'TERMINATE_AGENT' && order.payload.instanceId === instanceId;

/** The end of this life that had been begun by order. */
const endOf = ({ journal }: AgentDeps, one: Instance): Terminate | null =>
  journal.unfinished.map(({ order }) => order).find((order) => isEndOf(order, one)) ?? null;

/** What had been begun for this life and is carried through: its end, else the resume of its session. */
const againOf = (world: AgentDeps, one: Instance): Again | null => {
  const orders = world.journal.unfinished.map(({ order }) => order);
  const isResume = (order: Order): order is Again =>
    order.type === 'RESUME_SESSION' && order.payload.instanceId === one.instanceId;
  return endOf(world, one) ?? orders.find(isResume) ?? null;
};

/** Its terminal died too, so nobody can speak to it, or see what it does, any more. */
const bury = async (world: AgentDeps, orphan: Occupant, order: Terminate | null): Promise<void> => {
  const socket = socketPath(world.socketDir, orphan.instanceId);
  if (orphan.child)
    await endProcess({ leader: orphan.child, socket }, { graceMs: 0, killAfterMs: world.killAfterMs }, world.clock);
  const held = orphan.holder === null ? '' : `, and so did the holder of its terminal (${orphan.holder.pid})`;
  world.outbox.put({
    type: 'AGENT_EXITED',
    payload: {
      agentId: orphan.agentId,
      instanceId: orphan.instanceId,
      taskId: orphan.taskId,
      runtimeId: orphan.runtimeId,
      code: null,
      signal: null,
      reason: order === null ? 'crashed' : 'explicit',
      at: world.clock.now(),
      orderId: order?.payload.orderId ?? null,
      details: `its supervisor (${orphan.supervisor.pid}) died${held}; what was left of it has been ended`,
      checkpoint: null,
      lastOutput: [],
      forensics: null,
      policy: null,
      labels: {},
    },
  });
  forget(world.dir, orphan.agentId);
};

type Taken =
  | { readonly kind: 'life'; readonly life: Supervised }
  | { readonly kind: 'lost' | 'left_alone'; readonly orphan: Occupant };

/** One that somebody else supervises by now, or that we fail with, is left alone: it works, and the others are not to wait for it. */
const taken = async (world: AgentDeps, orphan: Occupant): Promise<Taken> => {
  try {
    const life = await takeOver(world, orphan, againOf(world, orphan));
    return life === null ? { kind: 'lost', orphan } : { kind: 'life', life };
  } catch (error) {
    world.log('an agent is not taken over: it goes on as it is', { agentId: orphan.agentId, why: String(error) });
    return { kind: 'left_alone', orphan };
  }
};

/** Of `begun` all is answered but what goes on with a life, or will when that is taken over. Gives those that were left alone. */
const settle = async (
  world: AgentDeps,
  orphans: readonly Occupant[],
  begun: readonly Begun[],
  adopt: (life: Supervised) => void,
): Promise<readonly Occupant[]> => {
  // At once: each of them is silent until all are taken over.
  const all = await Promise.all(orphans.map((orphan) => taken(world, orphan)));
  const lives = all.flatMap((one) => (one.kind === 'life' ? [one.life] : []));
  const leftAlone = all.flatMap((one) => (one.kind === 'left_alone' ? [one.orphan] : []));
  lives.forEach(adopt);
  const goesOn = [...lives.map(({ spec }) => spec), ...leftAlone];
  const repeated = new Set(goesOn.map((one) => againOf(world, one)?.payload.orderId));
  for (const one of begun) if (!repeated.has(one.orderId)) await remedy(world, one);
  for (const one of all) if (one.kind === 'lost') await bury(world, one.orphan, endOf(world, one.orphan));
  for (const life of lives) life.begin();
  return leftAlone;
};

/**
 * Puts in order what a supervisor of this runtime left behind when it died: agents whose terminal is still held are supervised
 * again, and known to `adopt` before any of them beats; begun orders are answered; what is left of other agents is ended. Gives those
 * that could not be taken over: they work on, and `settleLeftAlone` looks at them again.
 */
export const settleAftermath = (
  world: AgentDeps,
  runtimeId: string,
  adopt: (life: Supervised) => void,
): Promise<readonly Occupant[]> => settle(world, orphansOf(world.dir, runtimeId), world.journal.unfinished, adopt);

/** The same for those that were left alone the last time. */
export const settleLeftAlone = (
  world: AgentDeps,
  leftAlone: readonly Occupant[],
  adopt: (life: Supervised) => void,
): Promise<readonly Occupant[]> => {
  const waiting = new Set(leftAlone.map((one) => againOf(world, one)?.payload.orderId));
  const begun = world.journal.unfinished.filter(({ orderId }) => waiting.has(orderId));
  return settle(world, leftAlone, begun, adopt);
};
