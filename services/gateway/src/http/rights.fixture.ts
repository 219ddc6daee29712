import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { least, showingClaims } from '../testing.ts';

/** Who shows which token, and what an order of host-1 and its receipts are. */
export const runtime = await showingClaims('runtime', 'host-1');
export const agent = await showingClaims('agent', 'worker-1');
export const own = { ...least, runtime_id: 'host-1' };
export const nudge = example(Topic.agentOrder, 'NUDGE_AGENT', {
  orderId: 'order-1',
  runtimeId: 'host-1',
  ttlMs: 60_000,
});
export const receipt = example(Topic.orderReceipt, 'ORDER_RECEIPT', {
  orderId: 'order-1',
  runtimeId: 'host-1',
  kind: 'nudge',
  outcome: 'delivered',
  ...{ confirmed: false, forced: false, by: null, code: null, signal: null, claimsReleased: [], checkpoint: null },
  ...{ completedWork: [], remainingWork: [], forensics: null, lastOutput: [] },
}).payload;
export const receiptWith = (payload: object) => ({ type: 'ORDER_RECEIPT', payload: { ...receipt, ...payload } });
export const spawn = example(Topic.agentOrder, 'SPAWN_AGENT', {
  orderId: 'order-2',
  runtimeId: 'host-1',
  taskId: 'T-1',
});
export const spawned = example(Topic.spawnReceipt, 'SPAWN_RECEIPT', {
  orderId: 'order-2',
  runtimeId: 'host-1',
  taskId: 'T-1',
  agentId: spawn.payload.agentId,
}).payload;
export const exited = (more: object) => ({
  ...example(Topic.controlAgent, 'AGENT_EXITED', { runtimeId: 'host-1', orderId: null }).payload,
  ...more,
});
export const refusal = (field: string, index: number | null = null) => ({
  status: 403,
  body: { type: 'urn:vigil:problem:not_yours', title: 'Not yours', field, index },
});
