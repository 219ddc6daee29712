import type { Count } from '@vigil/chassis';
import { type Heartbeat, ID, ID_FORM } from '@vigil/events';
import { type Assigned, closerInterval, nearest } from '@vigil/policy';
import type { Outbox } from '../log/outbox.ts';
import type { RecordEncoding } from '../log/record-encoding.ts';
import type { CatchUps } from '../log/tail.ts';
import type { HeldRequests } from '../requests/held-requests.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { OrderEnvelope, PendingOrders } from '../state/pending-orders.ts';
import type { Served } from '../state/policies.ts';
import type { State } from '../state/state.ts';
import type { OfferedLease } from '../terminals/leases.ts';
import { placeIn, readEach, readHeartbeat } from './body.ts';
import { authorizeRelations, authorizeReported, authorizeStated, withOwnAgents, withoutHost } from './claims.ts';
import { Problem } from './problem.ts';
import type { Quotas } from './quotas.ts';
import { type RuntimeReport, readReceipt } from './receipts.ts';
import { authorizeHeartbeat, authorizeReport, orderOf } from './rights.ts';
import type { TokenSigner } from './token-signing.ts';
import { type Principal, refuseRevoked } from './tokens.ts';
import { policyWarnings, warningsFor } from './warnings.ts';

/** The dependencies of the gateway's HTTP API. */
export type GatewayContext = State & {
  readonly catchUp: CatchUps;
  readonly outbox: Outbox;
  readonly encoding: RecordEncoding;
  readonly sessions: Sessions;
  /** who shows an Authorization header; throws Problem */
  readonly admit: (authorization: string | undefined) => Promise<Principal>;
  /** null: the gateway has no secret, and issues no tokens */
  readonly signer: TokenSigner | null;
  readonly count: Count;
  readonly quotas: Quotas;
  /** the requests whose hooks wait here */
  readonly heldRequests: HeldRequests;
  /** the name of this ingress, such as `gateway:a` */
  readonly ingress: string;
  /** ends long polls */
  readonly closing: AbortSignal;
  /** the brokers' clock */
  readonly now: () => number;
};

const DEFAULT_WAIT_S = 25;
const LONGEST_WAIT_S = 55;

/** Answers when every replica has the heartbeats, with the pending orders of their agents. Throws Problem. */
export const acceptHeartbeats = async (context: GatewayContext, principal: Principal, body: unknown) => {
  const { outbox, encoding, agentRegistry, count, now } = context;
  const receivedAt = now();
  const sent = readEach(body, readHeartbeat);
  const heartbeats = sent.map(({ heartbeat }) => withoutHost(principal, heartbeat));
  for (const [i, heartbeat] of heartbeats.entries()) {
    authorizeHeartbeat(principal, heartbeat, context, placeIn(body, i));
    authorizeRelations(principal, heartbeat, context, placeIn(body, i));
    authorizeStated(principal, heartbeat, placeIn(body, i));
  }
  const named = heartbeats.map(({ agent_id: agentId, task_id: taskId }) => ({ agentId, taskId }));
  context.quotas.countAgents(principal, named, receivedAt);
  await outbox.send(heartbeats.map((heartbeat) => encoding.heartbeat(principal, heartbeat, receivedAt)));
  count('heartbeats_accepted', heartbeats.length, {});
  for (const heartbeat of heartbeats) agentRegistry.observeHeartbeat(heartbeat, now());
  const instances = new Map(heartbeats.map(({ agent_id, instance_id }) => [agent_id, instance_id] as const));
  const isAllowed = await canOffer(context, [...instances]);
  const at = now();
  return {
    accepted: heartbeats.length,
    orders: isAllowed ? offersFor(context, [...instances], at) : [],
    ...assignedTo(context, assignedBy(heartbeats[0])),
    refusal: refusalTo(context, heartbeats, at),
    successor: successorOf(context, heartbeats[0]),
    finding: findingOf(context, heartbeats[0]),
    warnings: warningsFor(sent, Array.isArray(body), context.policies),
    waitedMs: at - receivedAt,
  };
};

type InstanceRef = readonly [agentId: string, instanceId: string | null];

const offersFor = (
  { pendingOrders }: GatewayContext,
  instances: readonly InstanceRef[],
  at: number,
): readonly OrderEnvelope[] =>
  instances.flatMap(([agentId, instanceId]) => pendingOrders.offerToAgent(agentId, instanceId, at));

/** No order is offered if a halt may have been announced that this instance has not read. */
const canOffer = async (context: GatewayContext, instances: readonly InstanceRef[]): Promise<boolean> =>
  offersFor(context, instances, context.now()).length === 0 || (await context.catchUp.halts());

/**
 * Why the agent may make no more calls: its limit, that of its task, or of its policy's day; null: it may. A runtime judges the limit of
 * its agents itself. A sub-agent makes its calls for its parent.
 */
const refusalTo = (
  { policies, limits }: GatewayContext,
  heartbeats: readonly Heartbeat[],
  now: number,
): string | null => {
  const heartbeat = heartbeats.find(({ parent_agent_id: parent }) => parent === null) ?? heartbeats[0];
  if (heartbeat === undefined) return null;
  const agentId = heartbeat.runtime_id === null ? (heartbeat.parent_agent_id ?? heartbeat.agent_id) : null;
  const taskId = heartbeat.task_id ?? heartbeat.labels.parent_task ?? null;
  return limits.refusal({ agentId, taskId, policy: policies.assignedTo(assignedBy(heartbeat))?.name ?? null }, now);
};

/** The newer instance under the name of the first agent: two run at once, and only that one is judged. */
const successorOf = ({ agentRegistry }: GatewayContext, first: Heartbeat | undefined): string | null =>
  first === undefined ? null : agentRegistry.successorOf(first.agent_id, first.instance_id);

/** For what the first agent is STUCK or FAILING: its runtime logs a stall when it is found. */
const findingOf = ({ closerWatch }: GatewayContext, first: Heartbeat | undefined) =>
  first === undefined ? null : closerWatch.findingOf(first.agent_id, first.instance_id);

const assignedBy = (first: Heartbeat | undefined): Assigned => ({
  agentId: first?.agent_id ?? '',
  labels: first?.labels ?? {},
  requestedPolicy: first?.policy ?? null,
});

/** The policy of an agent, the heartbeat interval that is requested of it, and the reason for that interval. */
const assignedTo = ({ policies, closerWatch }: GatewayContext, agent: Assigned) => {
  const served = policies.assignedTo(agent);
  const policy = served === null ? null : { name: served.name, hash: served.hash };
  const ofPolicy = served?.intervalMs ?? null;
  const askAtStop = served?.askAtStop ?? null;
  if (ofPolicy === null) return { policy, intervalMs: null, intervalReason: null, askAtStop };
  const reason = closerWatch.reasonFor(agent.agentId);
  const intervalMs = reason === null ? ofPolicy : closerInterval(ofPolicy);
  return { policy, intervalMs, intervalReason: reason ?? 'policy', askAtStop };
};

/**
 * The pending orders of an agent that sends its heartbeats straight to Kafka, with the other fields of the answer to
 * a heartbeat.
 */
export const collectOrders = async (context: GatewayContext, agent: Assigned, instanceId: string | null) => {
  const instances: readonly InstanceRef[] = [[agent.agentId, instanceId]];
  const isAllowed = await canOffer(context, instances);
  return {
    orders: isAllowed ? offersFor(context, instances, context.now()) : [],
    ...assignedTo(context, agent),
    warnings: policyWarnings(agent, context.policies),
    waitedMs: 0,
  };
};

/** `team=core`, once for each label. */
export const labelsOf = (label: string | readonly string[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [label].flat().map((pair) => {
      const at = pair.indexOf('=');
      return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );

/**
 * Answers when every replica has them. An order that is not known here may have been offered by another instance a moment ago: what the log
 * has by now is read before anything is refused. Throws Problem.
 */
export const acceptReceipts = async (context: GatewayContext, principal: Principal, body: unknown) => {
  const { outbox, encoding, pendingOrders, catchUp, quotas, count, now } = context;
  const reports = readEach(body, readReceipt).map((one) => withOwnAgents(principal, one, context));
  const orders = reports.map((one) => orderOf(one)).filter((orderId) => orderId !== null);
  if (orders.some((orderId) => pendingOrders.find(orderId) === null)) await catchUp.orders();
  for (const [i, one] of reports.entries()) {
    authorizeReport(principal, one, context, placeIn(body, i));
    authorizeReported(principal, one, placeIn(body, i));
  }
  // Any other receipt names what its order names, or agents that its runtime reports.
  const named = reports.flatMap(({ type, payload }) =>
    type === 'AGENT_EXITED' || type === 'TERMINAL_USED' ? [payload] : [],
  );
  quotas.countAgents(principal, named, now());
  await outbox.send(reports.map((one) => encoding.report(one, correlationOf(pendingOrders, one), now())));
  for (const { type, payload } of reports) {
    if (type === 'ORDER_RECEIPT') count('receipts', 1, { kind: payload.kind, outcome: payload.outcome });
    if (type === 'SPAWN_RECEIPT') count('spawn_receipts', 1, { outcome: payload.outcome });
  }
  return { accepted: reports.length };
};

const correlationOf = (pendingOrders: PendingOrders, report: RuntimeReport): string | null => {
  const orderId = orderOf(report);
  return orderId === null ? null : (pendingOrders.find(orderId)?.correlationId ?? null);
};

type Polled = {
  readonly orders: readonly OrderEnvelope[];
  /** orders that must not begin while the fleet is halted; of a resume its text */
  readonly recalled: readonly OrderEnvelope[];
  /** the terminals of its agents that people look at: new, renewed and ended leases */
  readonly terminals: readonly OfferedLease[];
  readonly waitedMs: number;
};

/**
 * Answers when there are orders, recalls or leases of terminals, when `waitMs` are over, or when the gateway closes. The answer is empty
 * if it is unknown whether the fleet is halted. Throws Problem if its token is revoked meanwhile.
 * `waitedMs`: how long the request waited here.
 */
export const pollOrders = async (
  { pendingOrders, longPolls, closing, now, catchUp, issuedTokens, terminalLeases, agentRegistry }: GatewayContext,
  principal: Principal,
  runtimeId: string,
  waitMs: number,
): Promise<Polled> => {
  const receivedAt = now();
  const until = receivedAt + waitMs;
  for (;;) {
    pendingOrders.observePoll(runtimeId, now());
    const nothing = { orders: [], recalled: [], terminals: [] };
    if (closing.aborted) return { ...nothing, waitedMs: now() - receivedAt };
    const isAllowed = pendingOrders.repeatsAt(runtimeId, now()) > now() || (await catchUp.halts());
    const at = now();
    if (!isAllowed) return { ...nothing, waitedMs: at - receivedAt };
    refuseRevoked(principal, issuedTokens);
    const recalled = pendingOrders.recalledFrom(runtimeId, at);
    const orders = pendingOrders.offerToRuntime(runtimeId, at);
    const isItsAgent = (agentId: string) => agentRegistry.of(agentId, at)?.runtimeId === runtimeId;
    const terminals = terminalLeases.offersFor(isItsAgent, at);
    if (orders.length + recalled.length + terminals.length > 0 || at >= until)
      return { orders, recalled, terminals, waitedMs: at - receivedAt };
    await longPolls.wait(runtimeId, Math.min(until, pendingOrders.repeatsAt(runtimeId, at)) - at);
  }
};

/** Throws Problem if it is not an id. */
export const idOf = (field: 'runtimeId' | 'agentId' | 'instance', id: string): string => {
  if (ID.test(id)) return id;
  throw new Problem(400, 'bad_id', `${field} is ${JSON.stringify(id)}: use ${ID_FORM}`, { field });
};

/** Milliseconds of a `wait` in seconds. Throws Problem. */
export const waitOf = (wait: string | undefined): number => {
  const seconds = wait === undefined ? DEFAULT_WAIT_S : Number(wait);
  if (seconds >= 0) return Math.round(Math.min(seconds, LONGEST_WAIT_S) * 1000);
  throw new Problem(400, 'bad_field', `wait is ${JSON.stringify(wait)}: use a number of seconds`, {
    field: 'wait',
  });
};

/** Throws Problem where it has not been published. */
export const findPolicy = ({ policies }: GatewayContext, name: string): Served => {
  const served = policies.find(name);
  if (served !== null) return served;
  const names = policies.names();
  if (names.length === 0)
    throw new Problem(503, 'no_policies_yet', 'no policy has been published yet: ask again later');
  const near = nearest(name, names);
  const meant = near === null ? '' : `did you mean ${near}? `;
  const detail = `policy ${JSON.stringify(name)} does not exist: ${meant}policies: ${names.join(', ')}`;
  throw new Problem(404, 'no_such_policy', detail);
};
