import type { SpawnReceiptPayload } from '@vigil/events';
import type { World } from './agent.ts';
import { endProcess } from './ending.ts';
import { answer } from './hands.ts';
import type { Begun } from './journal.ts';
import { forget, type Holder, holderOf, orphansOf } from './lock.ts';
import { type SpawnOrder, spawnReceiptOf } from './order.ts';
import { remedyOf } from './unfinished.ts';

/** In the journal first, as every answer. */
export const answerSpawn = (
  world: World,
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

const remedy = async (world: World, begun: Begun): Promise<void> => {
  const found = remedyOf(begun, holderOf(world.dir, begun.order.payload.agentId));
  switch (found.do) {
    case 'report_uncertain':
      answer(world, found.order, 'uncertain', { why: found.why });
      return;
    case 'end_again': {
      const ending = await endProcess(found.pid, { graceMs: 0, killAfterMs: world.killAfterMs }, world.clock);
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

const orderFor = (world: World, { instanceId }: Holder): string | null =>
  world.journal.unfinished.find(
    ({ order }) => order.type === 'TERMINATE_AGENT' && order.payload.instanceId === instanceId,
  )?.orderId ?? null;

/** Its terminal died with its supervisor, so nobody can speak to it, or see what it does, any more. */
const bury = async (world: World, orphan: Holder, orderId: string | null): Promise<void> => {
  if (orphan.child) await endProcess(orphan.child, { graceMs: 0, killAfterMs: world.killAfterMs }, world.clock);
  world.outbox.put({
    type: 'AGENT_EXITED',
    payload: {
      agentId: orphan.agentId,
      instanceId: orphan.instanceId,
      taskId: orphan.taskId,
      runtimeId: orphan.runtimeId,
      code: null,
      signal: null,
      reason: orderId === null ? 'crashed' : 'explicit',
      at: world.clock.now(),
      orderId,
      details: `its supervisor (${orphan.supervisor.pid}) died; what was left of it has been ended`,
      checkpoint: null,
      lastOutput: [],
      forensics: null,
    },
  });
  forget(world.dir, orphan.agentId);
};

/** Puts in order what a supervisor of this runtime left behind when it died: begun orders first, then its agents. */
export const settleAftermath = async (world: World, runtimeId: string): Promise<void> => {
  const orphans = orphansOf(world.dir, runtimeId);
  const ordered = orphans.map((orphan) => orderFor(world, orphan));
  for (const begun of world.journal.unfinished) await remedy(world, begun);
  for (const [index, orphan] of orphans.entries()) await bury(world, orphan, ordered[index] ?? null);
};
