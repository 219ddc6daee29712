import type { Count } from '@vigil/chassis';
import { type Heartbeat, ID } from '@vigil/events';
import { type Assigned, nearest } from '@vigil/policy';
import type { Board, OrderEnvelope } from './board.ts';
import { placeIn, readEach } from './body.ts';
import { readHeartbeat } from './heartbeat.ts';
import type { Outbox } from './outbox.ts';
import type { Owners } from './owners.ts';
import type { Policies, Served } from './policies.ts';
import { Problem } from './problem.ts';
import { readReceipt, type Told } from './receipts.ts';
import { mayBeat, mayTell, orderOf } from './rights.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { ReachedLimits } from './spending.ts';
import type { CatchUps } from './tail.ts';
import type { Holder } from './tokens.ts';
import type { Waits } from './waits.ts';
import { policyWarnings, warningsFor } from './warnings.ts';
import type { Writing } from './writing.ts';

/** What the agents' door stands on. */
export type Behind = {
  readonly board: Board;
  readonly owners: Owners;
  readonly catchUp: CatchUps;
  readonly waits: Waits;
  readonly policies: Policies;
  readonly limits: ReachedLimits;
  readonly outbox: Outbox;
  readonly writing: Writing;
  readonly sessions: Sessions;
  /** who shows an Authorization header; throws Problem */
  readonly admit: (authorization: string | undefined) => Holder;
  readonly count: Count;
  /** ends long polls */
  readonly closing: AbortSignal;
  /** the brokers' clock */
  readonly now: () => number;
};

const DEFAULT_WAIT_S = 25;
const LONGEST_WAIT_S = 55;

/** Answers when every replica has them, with what awaits their agents. Throws Problem. */
export const acceptHeartbeats = async (behind: Behind, holder: Holder, body: unknown) => {
  const { outbox, writing, owners, count, now } = behind;
  const askedAt = now();
  const sent = readEach(body, readHeartbeat);
  const heartbeats = sent.map(({ heartbeat }) => heartbeat);
  for (const [i, beat] of heartbeats.entries()) mayBeat(holder, beat, behind, placeIn(body, i));
  await outbox.send(heartbeats.map(writing.heartbeat));
  count('heartbeats_accepted', heartbeats.length, 'gateway');
  for (const beat of heartbeats) owners.heard(beat, now());
  const lives = new Map(heartbeats.map(({ agent_id, instance_id }) => [agent_id, instance_id] as const));
  const isAllowed = await mayOffer(behind, [...lives]);
  const at = now();
  return {
    accepted: heartbeats.length,
    orders: isAllowed ? offersFor(behind, [...lives], at) : [],
    ...assignedTo(behind, assignedBy(heartbeats[0])),
    refusal: refusalTo(behind, heartbeats, at),
    warnings: warningsFor(sent, Array.isArray(body), behind.policies),
    waitedMs: at - askedAt,
  };
};

type Life = readonly [agentId: string, instanceId: string | null];

const offersFor = ({ board }: Behind, lives: readonly Life[], at: number): readonly OrderEnvelope[] =>
  lives.flatMap(([agentId, instanceId]) => board.offerToAgent(agentId, instanceId, at));

/** Nothing is given away where a halt may have been announced that is not known here. */
const mayOffer = async (behind: Behind, lives: readonly Life[]): Promise<boolean> =>
  offersFor(behind, lives, behind.now()).length === 0 || (await behind.catchUp.halts());

/**
 * Why the agent may make no more calls: its limit, that of its task, or of its policy's day; null: it may. A runtime judges the limit of
 * its agents itself. A sub-agent makes its calls for its parent.
 */
const refusalTo = ({ policies, limits }: Behind, heartbeats: readonly Heartbeat[], now: number): string | null => {
  const beat = heartbeats.find(({ parent_agent_id: parent }) => parent === null) ?? heartbeats[0];
  if (beat === undefined) return null;
  const agentId = beat.runtime_id === null ? (beat.parent_agent_id ?? beat.agent_id) : null;
  const taskId = beat.task_id ?? beat.labels.parent_task ?? null;
  return limits.refusal({ agentId, taskId, policy: policies.assignedTo(assignedBy(beat))?.name ?? null }, now);
};

const assignedBy = (first: Heartbeat | undefined): Assigned => ({
  agentId: first?.agent_id ?? '',
  labels: first?.labels ?? {},
  requestedPolicy: first?.policy ?? null,
});

/** What an agent is judged by, and how often that wants heartbeats. */
const assignedTo = ({ policies }: Behind, agent: Assigned) => {
  const served = policies.assignedTo(agent);
  return {
    policy: served === null ? null : { name: served.name, hash: served.hash },
    intervalMs: served === null ? null : served.intervalMs,
  };
};

/** What awaits an agent that sends its heartbeats straight to Kafka, with all else that the answer to a heartbeat says. */
export const collectOrders = async (behind: Behind, agent: Assigned, instanceId: string | null) => {
  const lives: readonly Life[] = [[agent.agentId, instanceId]];
  const isAllowed = await mayOffer(behind, lives);
  return {
    orders: isAllowed ? offersFor(behind, lives, behind.now()) : [],
    ...assignedTo(behind, agent),
    warnings: policyWarnings(agent, behind.policies),
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
export const acceptReceipts = async (behind: Behind, holder: Holder, body: unknown) => {
  const { outbox, writing, board, catchUp, now } = behind;
  const told = readEach(body, readReceipt);
  const orders = told.map((one) => orderOf(one)).filter((orderId) => orderId !== null);
  if (orders.some((orderId) => board.find(orderId) === null)) await catchUp.orders();
  for (const [i, one] of told.entries()) mayTell(holder, one, behind, placeIn(body, i));
  await outbox.send(told.map((one) => writing.told(one, correlationOf(board, one), now())));
  return { accepted: told.length };
};

const correlationOf = (board: Board, told: Told): string | null => {
  const orderId = orderOf(told);
  return orderId === null ? null : (board.find(orderId)?.correlationId ?? null);
};

type Polled = {
  readonly orders: readonly OrderEnvelope[];
  /** what is not to be begun, as the fleet is halted; of a resume: its words */
  readonly recalled: readonly OrderEnvelope[];
  readonly waitedMs: number;
};

/**
 * Answers when there are orders or recalls, when `waitMs` are over, or when the door closes; with nothing where it is not known whether the
 * fleet is halted. `waitedMs`: what has passed here before the answer.
 */
export const pollOrders = async (
  { board, waits, closing, now, catchUp }: Behind,
  runtimeId: string,
  waitMs: number,
): Promise<Polled> => {
  const askedAt = now();
  const until = askedAt + waitMs;
  for (;;) {
    board.observePoll(runtimeId, now());
    if (closing.aborted) return { orders: [], recalled: [], waitedMs: now() - askedAt };
    const isAllowed = board.repeatsAt(runtimeId, now()) > now() || (await catchUp.halts());
    const at = now();
    if (!isAllowed) return { orders: [], recalled: [], waitedMs: at - askedAt };
    const recalled = board.recalledFrom(runtimeId, at);
    const orders = board.offerToRuntime(runtimeId, at);
    if (orders.length + recalled.length > 0 || at >= until) return { orders, recalled, waitedMs: at - askedAt };
    await waits.wait(runtimeId, Math.min(until, board.repeatsAt(runtimeId, at)) - at);
  }
};

/** Throws Problem where it is no id. */
export const idOf = (field: 'runtimeId' | 'agentId' | 'instance', id: string): string => {
  if (ID.test(id)) return id;
  const wanted = '1 to 128 of the characters A-Z a-z 0-9 . _ : - are wanted';
  throw new Problem(400, 'bad_id', `${field} is ${JSON.stringify(id)}: ${wanted}`, { field });
};

/** Milliseconds of a `wait` in seconds. Throws Problem. */
export const waitOf = (wait: string | undefined): number => {
  const seconds = wait === undefined ? DEFAULT_WAIT_S : Number(wait);
  if (seconds >= 0) return Math.round(Math.min(seconds, LONGEST_WAIT_S) * 1000);
  throw new Problem(400, 'bad_field', `wait is ${JSON.stringify(wait)}: a number of seconds is wanted`, {
    field: 'wait',
  });
};

/** Throws Problem where it has not been published. */
export const findPolicy = ({ policies }: Behind, name: string): Served => {
  const served = policies.find(name);
  if (served !== null) return served;
  const names = policies.names();
  if (names.length === 0)
    throw new Problem(503, 'no_policies_yet', 'no policy has been published yet: ask again later');
  const near = nearest(name, names);
  const meant = near === null ? '' : `did you mean ${near}? `;
  const detail = `there is no policy ${JSON.stringify(name)}: ${meant}policies: ${names.join(', ')}`;
  throw new Problem(404, 'no_such_policy', detail);
};
