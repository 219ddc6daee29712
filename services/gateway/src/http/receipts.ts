import { type Draft, parsePayload, shown, Topic, Unfit } from '@vigil/events';

/** What a runtime reports: the outcome of an order, the end of an instance, the use of a terminal, and its own presence. */
export type RuntimeReport = Extract<
  Draft<
    typeof Topic.orderReceipt | typeof Topic.spawnReceipt | typeof Topic.controlAgent | typeof Topic.runtimePresence
  >,
  { readonly type: 'ORDER_RECEIPT' | 'SPAWN_RECEIPT' | 'AGENT_EXITED' | 'TERMINAL_USED' | 'RUNTIME_ANNOUNCED' }
>;

/** The key of everything in the fleet's key space. */
const FLEET = 'fleet';

const kinds = {
  ORDER_RECEIPT: (payload: unknown): RuntimeReport => {
    const receipt = parsePayload(Topic.orderReceipt, 'ORDER_RECEIPT', payload);
    return { topic: Topic.orderReceipt, type: 'ORDER_RECEIPT', key: receipt.agentId, payload: receipt };
  },
  SPAWN_RECEIPT: (payload: unknown): RuntimeReport => {
    const receipt = parsePayload(Topic.spawnReceipt, 'SPAWN_RECEIPT', payload);
    return { topic: Topic.spawnReceipt, type: 'SPAWN_RECEIPT', key: receipt.taskId, payload: receipt };
  },
  AGENT_EXITED: (payload: unknown): RuntimeReport => {
    const exit = parsePayload(Topic.controlAgent, 'AGENT_EXITED', payload);
    return { topic: Topic.controlAgent, type: 'AGENT_EXITED', key: exit.agentId, payload: exit };
  },
  TERMINAL_USED: (payload: unknown): RuntimeReport => {
    const use = parsePayload(Topic.controlAgent, 'TERMINAL_USED', payload);
    return { topic: Topic.controlAgent, type: 'TERMINAL_USED', key: use.agentId, payload: use };
  },
  RUNTIME_ANNOUNCED: (payload: unknown): RuntimeReport => {
    const runtime = parsePayload(Topic.runtimePresence, 'RUNTIME_ANNOUNCED', payload);
    return { topic: Topic.runtimePresence, type: 'RUNTIME_ANNOUNCED', key: FLEET, payload: runtime };
  },
};

const isKind = (type: unknown): type is keyof typeof kinds => typeof type === 'string' && Object.hasOwn(kinds, type);

/** One receipt, `{ type, payload }` as parsed JSON, under the key of its topic. Throws Unfit. */
export const readReceipt = (body: unknown): RuntimeReport => {
  const { type, payload } = (body ?? {}) as { type?: unknown; payload?: unknown };
  if (isKind(type)) return kinds[type](payload);
  const known = Object.keys(kinds).join(', ');
  throw new Unfit('bad_field', 'type', `type is ${type === undefined ? 'missing' : shown(type)}: use one of ${known}`);
};
