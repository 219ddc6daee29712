import type { Heartbeat } from '@vigil/events';
import type { AgentRegistry, KnownInstance } from '../state/agent-registry.ts';
import { type Addressed, AGENT_KINDS, type PendingOrders } from '../state/pending-orders.ts';
import { Problem } from './problem.ts';
import type { RuntimeReport } from './receipts.ts';
import type { Bearer, Principal } from './tokens.ts';

/** The state that decides about rights; `now`: epoch milliseconds. */
export type Known = {
  readonly pendingOrders: Pick<PendingOrders, 'find' | 'reservedFor'>;
  readonly agentRegistry: Pick<AgentRegistry, 'of'>;
  readonly now: () => number;
};

/** A field of a request that the principal may not set; `detail` adds to the message. */
type Foreign = { readonly field: string; readonly value: unknown; readonly detail?: string };

/**
 * Throws Problem if a heartbeat is not from the agent, or not from one of the runtime's agents. That is so where it
 * names another runtime, its agent runs elsewhere, or another runtime was ordered to start that agent. `index`: its
 * place in a list.
 */
export const authorizeHeartbeat = (
  principal: Principal,
  heartbeat: Heartbeat,
  known: Known,
  index: number | null,
): void => {
  if (principal.kind === 'operator') return;
  const foreignField = principal.kind === 'agent' ? foreignToAgentsHeartbeat : foreignToRuntimesHeartbeat;
  refuse(principal, foreignField(principal, heartbeat, known), index);
};

const foreignToRuntimesHeartbeat = (
  { name }: Bearer,
  { agent_id, runtime_id }: Heartbeat,
  { agentRegistry, pendingOrders, now }: Known,
): Foreign | null => {
  if (runtime_id !== name) return { field: 'runtime_id', value: runtime_id };
  const reservedFor = pendingOrders.reservedFor(agent_id, now());
  if (reservedFor !== null) return reservedElsewhere(name, 'agent_id', agent_id, reservedFor);
  return runElsewhere(name, 'agent_id', agent_id, agentRegistry.of(agent_id, now()));
};

/**
 * An agent names no runtime, or the one that the evaluator or the runtime itself reports. While its runtime reports an
 * instance, another instance would take its place, and the runtime's reports would be refused.
 */
const foreignToAgentsHeartbeat = (
  { name }: Bearer,
  heartbeat: Heartbeat,
  { agentRegistry, now }: Known,
): Foreign | null => {
  const { agent_id, instance_id, runtime_id } = heartbeat;
  const instance = agentRegistry.of(agent_id, now());
  const isWatched = instance?.present === true && instance.runtimeId !== null;
  if (agent_id !== name) {
    if (!isSubagentOf(name, heartbeat)) return { field: 'agent_id', value: agent_id };
    if (runtime_id !== null) return { field: 'runtime_id', value: runtime_id, detail: NO_RUNTIME };
    return isWatched ? foreignInstance('agent_id', agent_id, instance) : null;
  }
  if (runtime_id !== null && instance?.runtimeId !== runtime_id) {
    const detail = `no runtime has reported that ${name} runs with it: leave runtime_id out`;
    return { field: 'runtime_id', value: runtime_id, detail };
  }
  if (!isWatched || instance_id === null || instance_id === instance.instanceId) return null;
  return { ...foreignInstance('instance_id', name, instance), value: instance_id };
};

const NO_RUNTIME = 'the sub-agents of a runtime are reported by that runtime: leave runtime_id out';

/** A sub-agent is named after its parent, which reports it. */
const isSubagentOf = (name: string, { agent_id, parent_agent_id }: Heartbeat): boolean =>
  parent_agent_id === name && agent_id.startsWith(`${name}:`);

/** Throws Problem. */
export const authorizePoll = (principal: Principal, runtimeId: string): void =>
  authorizeName(principal, 'runtime', runtimeId);

/** Throws Problem. */
export const authorizeCollect = (principal: Principal, agentId: string): void =>
  authorizeName(principal, 'agent', agentId);

/** A request belongs to its agent, or to the runtime that runs it. Throws Problem. */
export const authorizeRequest = (
  principal: Principal,
  agentId: string,
  { agentRegistry, pendingOrders, now }: Known,
): void => {
  if (principal.kind !== 'runtime') {
    authorizeCollect(principal, agentId);
    return;
  }
  const { name } = principal;
  const reserved = reservedElsewhere(name, 'agentId', agentId, pendingOrders.reservedFor(agentId, now()));
  refuse(principal, reserved ?? runElsewhere(name, 'agentId', agentId, agentRegistry.of(agentId, now())), null);
};

/** The lines of a terminal come from the runtime of its agent. Throws Problem. */
export const authorizeTerminal = (
  principal: Principal,
  { agentId, runtimeId }: { readonly agentId: string; readonly runtimeId: string },
  { agentRegistry, now }: Pick<Known, 'agentRegistry' | 'now'>,
): void => {
  if (principal.kind === 'operator') return;
  authorizeName(principal, 'runtime', runtimeId);
  if (agentRegistry.of(agentId, now())?.runtimeId !== runtimeId)
    refuse(principal, { field: 'agentId', value: agentId, detail: `it does not run with ${runtimeId}` }, null);
};

const authorizeName = (principal: Principal, kind: Bearer['kind'], name: string): void => {
  if (principal.kind === 'operator' || (principal.kind === kind && principal.name === name)) return;
  refuse(principal, { field: `${kind}Id`, value: name }, null);
};

/** The order that it answers; null: it answers none. */
export const orderOf = ({ payload }: RuntimeReport): string | null => ('orderId' in payload ? payload.orderId : null);

/** A receipt names its sender, answers an order to it, and names no agent of another. Throws Problem. */
export const authorizeReport = (
  principal: Principal,
  report: RuntimeReport,
  known: Known,
  index: number | null,
): void => {
  if (principal.kind === 'operator') return;
  refuse(principal, (principal.kind === 'runtime' ? foreignToRuntime : foreignToAgent)(principal, report), index);
  const orderId = orderOf(report);
  const order = orderId === null ? null : authorizeAnswer(principal, report, orderId, known, index);
  // An order without an instance, such as a spawn, does not allow an end.
  if (report.type === 'AGENT_EXITED' && !order?.instanceId) authorizeOwn(principal, report.payload, known, index);
  if (report.type === 'TERMINAL_USED') authorizeOwn(principal, report.payload, known, index);
};

const foreignToRuntime = ({ name }: Bearer, { payload }: RuntimeReport): Foreign | null =>
  payload.runtimeId === name ? null : { field: 'runtimeId', value: payload.runtimeId };

/** An agent cannot report runtimes, spawns and ends: it answers what it carries out itself, and reports no end by it. */
const foreignToAgent = ({ name }: Bearer, { type, payload }: RuntimeReport): Foreign | null => {
  if (type !== 'ORDER_RECEIPT') return { field: 'type', value: type };
  if (payload.agentId !== name) return { field: 'agentId', value: payload.agentId };
  if (!AGENT_KINDS.has(payload.kind)) return { field: 'kind', value: payload.kind, detail: ONLY_A_RUNTIME };
  if (!canAnswer(payload)) return { field: 'outcome', value: payload.outcome, detail: ONLY_A_RUNTIME };
  const field = OF_AN_END.find((one) => isReported(payload[one]));
  return field === undefined ? null : { field, value: payload[field], detail: ONLY_A_RUNTIME };
};

type OrderReceipt = Extract<RuntimeReport, { type: 'ORDER_RECEIPT' }>['payload'];

const ONLY_A_RUNTIME = 'only its runtime reports that';

/** The fields of a receipt that describe the end of a process. */
const OF_AN_END = [
  'confirmed',
  'forced',
  'by',
  'code',
  'signal',
  'claimsReleased',
  'checkpoint',
  'completedWork',
  'remainingWork',
  'forensics',
  'lastOutput',
] as const satisfies readonly (keyof OrderReceipt)[];

const isReported = (value: OrderReceipt[(typeof OF_AN_END)[number]]): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== null && value !== false;

const canAnswer = ({ kind, outcome }: OrderReceipt): boolean => {
  switch (outcome) {
    case 'delivered':
    case 'answered':
    case 'superseded':
    case 'expired':
    case 'failed':
    case 'uncertain':
      return true;
    case 'done':
      return kind === 'reset_breaker';
    case 'halted':
    case 'UNKNOWN':
      return false;
  }
};

const authorizeAnswer = (
  principal: Bearer,
  report: RuntimeReport,
  orderId: string,
  known: Known,
  index: number | null,
): Addressed => {
  const order = known.pendingOrders.find(orderId);
  if (order === null)
    throw new Problem(
      409,
      'no_such_order',
      `orderId is ${JSON.stringify(orderId)}: no such order has been given within the time that orders are kept`,
      { field: 'orderId', index },
    );
  const addressee = principal.kind === 'runtime' ? order.runtimeId : order.agentId;
  if (addressee !== principal.name) refuse(principal, { field: 'orderId', value: orderId }, index);
  refuse(principal, outsideOrder(report, order), index);
  return order;
};

/** An agent that no runtime runs answers in its own name. */
const isRuntimeOf = ({ runtimeId, agentId }: Addressed, named: string | null): boolean =>
  named === runtimeId || (runtimeId === '' && named === agentId);

/** A receipt names only what its order names: it is filed under that agent or task. */
const outsideOrder = ({ type, payload }: RuntimeReport, order: Addressed): Foreign | null => {
  if (type === 'RUNTIME_ANNOUNCED') return null;
  const detail = `order ${order.orderId} was about`;
  if (type === 'ORDER_RECEIPT' && payload.kind !== order.kind)
    return { field: 'kind', value: payload.kind, detail: `order ${order.orderId} was a ${order.kind}` };
  if (type === 'SPAWN_RECEIPT' && order.kind !== 'spawn')
    return { field: 'type', value: type, detail: `order ${order.orderId} was a ${order.kind}` };
  if (!isRuntimeOf(order, payload.runtimeId))
    return { field: 'runtimeId', value: payload.runtimeId, detail: `${detail} runtime ${order.runtimeId}` };
  if (type === 'SPAWN_RECEIPT' && payload.requestId !== null && payload.requestId !== order.requestId)
    return { field: 'requestId', value: payload.requestId, detail: `${detail} request ${order.requestId}` };
  if (payload.agentId !== order.agentId)
    return { field: 'agentId', value: payload.agentId, detail: `${detail} agent ${order.agentId}` };
  if (type === 'SPAWN_RECEIPT' && payload.taskId !== (order.taskId ?? ''))
    return { field: 'taskId', value: payload.taskId, detail: `${detail} task ${order.taskId}` };
  if (type !== 'SPAWN_RECEIPT' && order.instanceId !== null && payload.instanceId !== order.instanceId)
    return { field: 'instanceId', value: payload.instanceId, detail: `${detail} instance ${order.instanceId}` };
  return null;
};

type Own = Extract<RuntimeReport, { type: 'AGENT_EXITED' | 'TERMINAL_USED' }>['payload'];

/** A report without an order: a runtime reports nothing of an agent that runs elsewhere, or last ran there. */
const authorizeOwn = (principal: Bearer, { agentId, instanceId }: Own, known: Known, index: number | null): void => {
  const foreign = foreignInstanceOf(principal, agentId, instanceId, known);
  if (foreign === null) return;
  const { field, value, detail } = foreign;
  throw new Problem(409, 'held_elsewhere', `${field} is ${JSON.stringify(value)}: ${detail}`, { field, index });
};

const foreignInstanceOf = (
  { name }: Bearer,
  agentId: string,
  instanceId: string | null,
  { agentRegistry, pendingOrders, now }: Known,
): Foreign | null => {
  const instance = agentRegistry.of(agentId, now());
  if (instance === null) return reservedElsewhere(name, 'agentId', agentId, pendingOrders.reservedFor(agentId, now()));
  const isElsewhere = instance.runtimeId !== name && (instance.present || instance.instanceId === instanceId);
  return isElsewhere ? foreignInstance('agentId', agentId, instance) : null;
};

/** The name of an agent that another runtime was ordered to start. */
const reservedElsewhere = (name: string, field: string, agentId: string, runtimeId: string | null): Foreign | null =>
  runtimeId === null || runtimeId === name
    ? null
    : { field, value: agentId, detail: `runtime ${runtimeId} was ordered to start ${agentId}` };

const runElsewhere = (name: string, field: string, agentId: string, instance: KnownInstance | null): Foreign | null =>
  instance === null || !instance.present || instance.runtimeId === name
    ? null
    : foreignInstance(field, agentId, instance);

const foreignInstance = (field: string, agentId: string, { runtimeId, instanceId }: KnownInstance) => ({
  field,
  value: agentId,
  detail: `${agentId} runs ${runtimeId === null ? 'without a runtime' : `with runtime ${runtimeId}`} (instance ${instanceId}): end it there, or wait until Vigil has lost it`,
});

const refuse = ({ kind, name }: Bearer, foreign: Foreign | null, index: number | null): void => {
  if (foreign === null) return;
  const { field, value } = foreign;
  const more = foreign.detail === undefined ? '' : `; ${foreign.detail}`;
  const detail = `${field} is ${JSON.stringify(value)}: the token belongs to ${kind} ${name} and permits reports about that ${kind} only${more}`;
  throw new Problem(403, 'not_yours', detail, { field, index });
};
