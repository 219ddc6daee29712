import type { Heartbeat } from '@vigil/events';
import type { Bearer } from '@vigil/events/gateway-token';
import type { Addressed, Board } from './board.ts';
import type { Life, Owners } from './owners.ts';
import { Problem } from './problem.ts';
import type { Told } from './receipts.ts';
import type { Holder } from './tokens.ts';

/** What is known of whose things are; `now`: epoch milliseconds. */
export type Known = {
  readonly board: Pick<Board, 'find'>;
  readonly owners: Pick<Owners, 'of'>;
  readonly now: () => number;
};

/** What of a request is not the holder's to say; `whose` says more than that it is another's. */
type Foreign = { readonly field: string; readonly value: unknown; readonly whose?: string };

/**
 * Throws Problem where a heartbeat is not of the agent, or of none of the runtime's agents: one that names another runtime, or one that
 * lives elsewhere. `index`: its place where several were sent.
 */
export const mayBeat = (holder: Holder, beat: Heartbeat, known: Known, index: number | null): void => {
  if (holder.kind === 'operator') return;
  if (holder.kind === 'agent' && isSubagentOf(holder.name, beat)) return;
  const named = holder.kind === 'agent' ? beat.agent_id : beat.runtime_id;
  if (named !== holder.name) refuse(holder, { field: `${holder.kind}_id`, value: named }, index);
  if (holder.kind === 'agent') return;
  const life = known.owners.of(beat.agent_id, known.now());
  refuse(holder, elsewhere(holder, 'agent_id', beat.agent_id, life), index);
};

/** A sub-agent is named after its parent, which reports it. */
const isSubagentOf = (name: string, { agent_id, parent_agent_id }: Heartbeat): boolean =>
  parent_agent_id === name && agent_id.startsWith(`${name}:`);

/** Throws Problem. */
export const mayPoll = (holder: Holder, runtimeId: string): void => mayAsk(holder, 'runtime', runtimeId);

/** Throws Problem. */
export const mayCollect = (holder: Holder, agentId: string): void => mayAsk(holder, 'agent', agentId);

const mayAsk = (holder: Holder, kind: Bearer['kind'], name: string): void => {
  if (holder.kind === 'operator' || (holder.kind === kind && holder.name === name)) return;
  refuse(holder, { field: `${kind}Id`, value: name }, null);
};

/** The order that it answers; null: it answers none. */
export const orderOf = ({ payload }: Told): string | null => ('orderId' in payload ? payload.orderId : null);

/** A receipt names its teller, answers an order to it, and speaks of no agent of another. Throws Problem. */
export const mayTell = (holder: Holder, told: Told, known: Known, index: number | null): void => {
  if (holder.kind === 'operator') return;
  refuse(holder, (holder.kind === 'runtime' ? foreignToRuntime : foreignToAgent)(holder, told), index);
  const orderId = orderOf(told);
  const order = orderId === null ? null : mayAnswer(holder, told, orderId, known, index);
  // An order that names no life, such as to spawn, lets nobody end one.
  if (told.type === 'AGENT_EXITED' && !order?.instanceId) mayEnd(holder, told.payload, known, index);
};

const foreignToRuntime = ({ name }: Bearer, { payload }: Told): Foreign | null =>
  payload.runtimeId === name ? null : { field: 'runtimeId', value: payload.runtimeId };

/** Runtimes, spawns and ends are not an agent's to tell. */
const foreignToAgent = ({ name }: Bearer, { type, payload }: Told): Foreign | null => {
  if (type !== 'ORDER_RECEIPT') return { field: 'type', value: type };
  return payload.agentId === name ? null : { field: 'agentId', value: payload.agentId };
};

const mayAnswer = (holder: Bearer, told: Told, orderId: string, known: Known, index: number | null): Addressed => {
  const order = known.board.find(orderId);
  if (order === null)
    throw new Problem(
      409,
      'no_such_order',
      `orderId is ${JSON.stringify(orderId)}: no such order has been given within the time that orders are kept`,
      { field: 'orderId', index },
    );
  const addressee = holder.kind === 'runtime' ? order.runtimeId : order.agentId;
  if (addressee !== holder.name) refuse(holder, { field: 'orderId', value: orderId }, index);
  refuse(holder, besideTheOrder(told, order), index);
  return order;
};

/** A receipt speaks of nothing but what its order was about: it is filed under the agent or the task that it names. */
const besideTheOrder = ({ type, payload }: Told, order: Addressed): Foreign | null => {
  if (type === 'RUNTIME_ANNOUNCED') return null;
  const whose = `order ${order.orderId} was about`;
  if (payload.agentId !== order.agentId)
    return { field: 'agentId', value: payload.agentId, whose: `${whose} agent ${order.agentId}` };
  if (type === 'SPAWN_RECEIPT' && payload.taskId !== (order.taskId ?? ''))
    return { field: 'taskId', value: payload.taskId, whose: `${whose} task ${order.taskId}` };
  if (type !== 'SPAWN_RECEIPT' && order.instanceId !== null && payload.instanceId !== order.instanceId)
    return { field: 'instanceId', value: payload.instanceId, whose: `${whose} instance ${order.instanceId}` };
  return null;
};

type Exited = Extract<Told, { type: 'AGENT_EXITED' }>['payload'];

/** An end that nobody ordered: of an agent that lives elsewhere, or last lived there, it is not this runtime's to tell. */
const mayEnd = (holder: Bearer, { agentId, instanceId }: Exited, known: Known, index: number | null): void => {
  const life = known.owners.of(agentId, known.now());
  if (life === null || life.runtimeId === holder.name || !(life.present || life.instanceId === instanceId)) return;
  const { field, value, whose } = foreignLife('agentId', agentId, life);
  throw new Problem(409, 'held_elsewhere', `${field} is ${JSON.stringify(value)}: ${whose}`, { field, index });
};

const elsewhere = ({ name }: Bearer, field: string, agentId: string, life: Life | null): Foreign | null =>
  life === null || !life.present || life.runtimeId === name ? null : foreignLife(field, agentId, life);

const foreignLife = (field: string, agentId: string, { runtimeId, instanceId }: Life) => ({
  field,
  value: agentId,
  whose: `${agentId} lives ${runtimeId === null ? 'without a runtime' : `with runtime ${runtimeId}`} (instance ${instanceId}): end it there, or wait until Vigil has lost it`,
});

const refuse = ({ kind, name }: Bearer, foreign: Foreign | null, index: number | null): void => {
  if (foreign === null) return;
  const { field, value, whose } = foreign;
  const detail = `${field} is ${JSON.stringify(value)}: the token shown is that of ${kind} ${name}, which speaks for that ${kind} only${whose === undefined ? '' : `; ${whose}`}`;
  throw new Problem(403, 'not_yours', detail, { field, index });
};
