import type { Heartbeat } from '@vigil/events';
import type { Bearer } from '@vigil/events/door-token';
import type { Board } from './board.ts';
import { Problem } from './problem.ts';
import type { Told } from './receipts.ts';
import type { Holder } from './tokens.ts';

/** What of a request is not the holder's to say. */
type Foreign = { readonly field: string; readonly value: unknown };

/** Throws Problem where a heartbeat is not of the agent, or of none of the runtime's agents; `index`: its place where several were sent. */
export const mayBeat = (holder: Holder, { agent_id, runtime_id }: Heartbeat, index: number | null): void => {
  if (holder.kind === 'operator') return;
  const named = holder.kind === 'agent' ? agent_id : runtime_id;
  refuse(holder, named === holder.name ? null : { field: `${holder.kind}_id`, value: named }, index);
};

/** Throws Problem. */
export const mayPoll = (holder: Holder, runtimeId: string): void => mayAsk(holder, 'runtime', runtimeId);

/** Throws Problem. */
export const mayCollect = (holder: Holder, agentId: string): void => mayAsk(holder, 'agent', agentId);

const mayAsk = (holder: Holder, kind: Bearer['kind'], name: string): void => {
  if (holder.kind === 'operator' || (holder.kind === kind && holder.name === name)) return;
  refuse(holder, { field: `${kind}Id`, value: name }, null);
};

/** A receipt names its teller, and answers no order of another. Throws Problem. */
export const mayTell = (holder: Holder, told: Told, board: Board, index: number | null): void => {
  if (holder.kind === 'operator') return;
  refuse(
    holder,
    holder.kind === 'runtime' ? foreignToRuntime(holder, told, board) : foreignToAgent(holder, told, board),
    index,
  );
};

const foreignToRuntime = ({ name }: Bearer, { payload }: Told, board: Board): Foreign | null => {
  if (payload.runtimeId !== name) return { field: 'runtimeId', value: payload.runtimeId };
  const order = answered(payload, board);
  return order === null || order.runtimeId === name ? null : { field: 'orderId', value: order.orderId };
};

/** An agent answers its own orders; runtimes, spawns and ends are not its to tell. */
const foreignToAgent = ({ name }: Bearer, { type, payload }: Told, board: Board): Foreign | null => {
  if (type !== 'ORDER_RECEIPT') return { field: 'type', value: type };
  if (payload.agentId !== name) return { field: 'agentId', value: payload.agentId };
  const order = answered(payload, board);
  return order === null || order.agentId === name ? null : { field: 'orderId', value: order.orderId };
};

const answered = (payload: Told['payload'], board: Board) =>
  'orderId' in payload && payload.orderId !== null ? board.find(payload.orderId) : null;

const refuse = ({ kind, name }: Bearer, foreign: Foreign | null, index: number | null): void => {
  if (foreign === null) return;
  const { field, value } = foreign;
  const detail = `${field} is ${JSON.stringify(value)}: the token shown is that of ${kind} ${name}, which speaks for that ${kind} only`;
  throw new Problem(403, 'not_yours', detail, { field, index });
};
