import { setTimeout } from 'node:timers/promises';
import type { Count, Logger } from '@vigil/chassis';
import { type EventOf, NewerEvent, Topic, type TopicName, Undecodable } from '@vigil/events';
import { type Bounds, type Following, isEvent, type Log, type LogRecord, WaitingReader, within } from '@vigil/stream';
import { pollOf } from '../state/agent-requests.ts';
import { LONGEST_TTL_MS } from '../state/pending-orders.ts';
import type { State } from '../state/state.ts';

/** The topics that an instance follows. */
export const tailed = [
  Topic.agentOrder,
  Topic.orderReceipt,
  Topic.spawnReceipt,
  Topic.policy,
  Topic.fleetPresence,
  Topic.spending,
  Topic.fleetGovernance,
  Topic.token,
  Topic.agentHealth,
  Topic.agentRequest,
  Topic.taskRecovery,
  Topic.leaseTerminal,
] as const;
/** Of these, the last hour is read at the start: they are kept longer. An agent with an older state only keeps the policy's interval, and no request or lease lasts longer. */
const readRecent = [Topic.agentHealth, Topic.agentRequest, Topic.taskRecovery, Topic.leaseTerminal];
const RECENT_MS = 60 * 60_000;
/** All of these is read at the start; of governance only what may still concern an order. */
const readWhole = tailed.filter(
  (topic) => topic !== Topic.fleetGovernance && !readRecent.some((recent) => recent === topic),
);
type Tailed = EventOf<(typeof tailed)[number]>;

/** `now`: epoch milliseconds */
export type TailDeps = {
  readonly logger: Logger;
  readonly count: Count;
  readonly signal: AbortSignal;
  readonly now: () => number;
};

/** Reads what the log has by now. Resolves when all that was written before the call has been seen. */
export type CatchUp = () => Promise<void>;

export type CatchUps = Following & {
  /** reads what the log has by now of orders; rejects where the log or the registry does not answer in time */
  readonly orders: CatchUp;
  /** Whether every halt that was announced before the call is known here. False: the log or the registry cannot be asked, or following it lags. */
  readonly halts: () => Promise<boolean>;
  /** rejects where a record is read and cannot be observed: our mistake */
  readonly finished: Promise<never>;
};

/** How long following may lag behind what the log has, milliseconds, and how often that is looked at. */
const LAG_MS = 1_000;
const LOOK_MS = 20;

/** How long a client that sends a receipt waits for an answer at most, milliseconds. The client gives up later. */
const ORDERS_MS = 5_000;

/** Governance carries a tick a second: this number of records is read at a time, backwards. */
const CHUNK = 5_000;

/** What a record changes here. Any order of records, and any repetition, leads to the same. */
const observe = (
  {
    pendingOrders,
    agentRegistry,
    longPolls,
    policies,
    limits,
    halts,
    issuedTokens,
    closerWatch,
    agentRequests,
    terminalLeases,
  }: State,
  event: Tailed,
  place: LogRecord,
): void => {
  const { timestamp, offset } = place;
  switch (event.type) {
    case 'ORDER_RECEIPT':
      pendingOrders.observeReceipt(event.payload.orderId, timestamp);
      return;
    case 'SPAWN_RECEIPT':
      pendingOrders.observeReceipt(event.payload.orderId, timestamp);
      pendingOrders.observeSpawnReceipt(event.payload, timestamp);
      return;
    case 'POLICY_PUBLISHED':
      policies.observe(event, offset);
      return;
    case 'POLICY_REFUSED':
      return;
    case 'SPENDING_LIMIT_REACHED':
    case 'SPENDING_LIMIT_LIFTED':
      limits.observe(event, offset);
      return;
    case 'TOKEN_ISSUED':
    case 'TOKEN_REVOKED':
      issuedTokens.observe(event, offset);
      // A poll that waits may be one whose token is revoked.
      if (event.type === 'TOKEN_REVOKED') longPolls.wakeAll();
      return;
    case 'AGENT_PRESENT':
    case 'AGENT_LOST':
    case 'AGENT_SPENT':
      agentRegistry.observe(event, offset);
      return;
    case 'HEALTH_STATE_CHANGED':
    case 'INSTANCE_STARTED':
      closerWatch.observeHealth(event, place);
      return;
    case 'REQUEST_OPENED':
    case 'REQUEST_ANSWERED':
    case 'REQUEST_WITHDRAWN':
    case 'REQUEST_EXPIRED':
    case 'REQUEST_REFUSED':
    case 'ANSWER_REFUSED':
      agentRequests.observe(event, offset);
      longPolls.wake(pollOf(event.payload.requestId));
      return;
    case 'LEASE_TERMINAL': {
      terminalLeases.observe(event, timestamp, offset);
      const runtimeId = agentRegistry.of(event.payload.agentId, timestamp)?.runtimeId ?? null;
      if (runtimeId !== null) longPolls.wake(runtimeId);
      return;
    }
    case 'RECOVERY_INITIATED':
    case 'RECOVERY_COMPLETED':
    case 'PROBATION_PASSED':
    case 'RECOVERY_FAILED':
    case 'TASK_RELEASED':
      closerWatch.observeRecovery(event, place);
      return;
    case 'FLEET_HALTED':
    case 'FLEET_RESUMED':
      halts.observe(event, offset);
      pendingOrders.setHalted(halts.isHalted());
      longPolls.wakeAll();
      return;
    case 'BRAKE_ENGAGED':
    case 'BRAKE_RELEASED':
    case 'DRY_RUN_CHANGED':
    case 'AGENT_ANSWERED':
    case 'BREAKER_RESET_ASKED':
    case 'CIRCUIT_BREAKER_STATE_CHANGED':
    case 'CLOCK_DRIFTED':
    case 'CLOCK_DRIFT_ENDED':
    case 'DUPLICATE_INSTANCE':
    case 'HOLD_CHANGED':
    case 'HOLD_REFUSED':
    case 'CONTROL_APPLIED':
    case 'CONTROL_REFUSED':
    case 'EXEMPTION_CHANGED':
    case 'WAIT_OVERDUE':
    case 'WAIT_ENDED':
    case 'WARRANT_FILED':
    case 'WARRANT_RENEWED':
    case 'WARRANT_LAPSED':
    case 'WORKER_ESCALATION_TICKET':
    case 'RECOVERY_REFUSED':
    case 'RECOVERY_WAITING':
    case 'REVIEW_DECIDED':
    case 'REVIEW_REQUIRED':
    case 'SPAWN_IMPOSSIBLE':
      return;
    case 'NUDGE_AGENT':
    case 'PROBE_AGENT':
    case 'HANDOFF_AGENT':
    case 'PAUSE_AGENT':
    case 'RESUME_AGENT':
    case 'INTERRUPT_AGENT':
    case 'RESUME_SESSION':
    case 'RESET_BREAKER':
    case 'TERMINATE_AGENT':
    case 'SPAWN_AGENT':
      pendingOrders.observeOrder(event, timestamp);
      longPolls.wake(event.payload.runtimeId);
  }
};

/**
 * Follows orders, receipts, policies, halts, presence, health and recovery without a group, and reads the existing records. Resolves
 * when every record that was committed before the call has been read.
 * Following begins first: records that are written meanwhile are read at least once.
 */
export const tail = async (log: Log, state: State, deps: TailDeps): Promise<CatchUps> => {
  const { signal, now } = deps;
  const { promise: finished, reject } = Promise.withResolvers<never>();
  finished.catch(() => {});
  const reader = new WaitingReader(log.codec, signal);
  const pending = new Map<Promise<void>, string>();
  const observed = (topic: TopicName) =>
    Promise.all([...pending].filter(([, of]) => of === topic).map(([read]) => read));
  const readTo = new Map<string, number>();
  const onRecord = (record: LogRecord): void => {
    readTo.set(placeOf(record), record.offset + 1);
    const read = apply(reader, state, record, deps).finally(() => pending.delete(read));
    read.catch(reject);
    pending.set(read, record.topic);
  };
  const readUpTo = async (topic: TopicName, from: (place: string) => number): Promise<void> => {
    const [bounds, stableEnds] = [await log.bounds(topic), await log.stableEnds(topic)];
    const reading = stableEnds.map(async (high, partition) => {
      const place = placeOf({ topic, partition });
      const start = Math.max(bounds[partition]?.low ?? 0, from(place));
      if (start < high) await log.read(topic, partition, { low: start, high }, onRecord, signal);
      readTo.set(place, Math.max(high, readTo.get(place) ?? 0));
    });
    await Promise.all(reading);
    await observed(topic);
  };
  const { ready } = await log.follow(tailed, 'end', onRecord, signal);
  /** Reads a partition backwards until `isEnough`, or until records are older than `since`. */
  const readBack = async (
    topic: TopicName,
    partition: number,
    { low, high }: Bounds,
    since: number,
    isEnough: () => boolean,
  ): Promise<void> => {
    let oldest = Number.POSITIVE_INFINITY;
    for (let end = high; end > low && oldest >= since && !isEnough(); end -= CHUNK) {
      const range = { low: Math.max(low, end - CHUNK), high: end };
      const onOld = (record: LogRecord): void => {
        oldest = Math.min(oldest, record.timestamp);
        onRecord(record);
      };
      await log.read(topic, partition, range, onOld, signal);
      await observed(topic);
    }
  };
  /** An order from before a halt that is older than the longest time to live has expired, so reading can stop. */
  const readHalts = async (): Promise<void> => {
    const [low, high] = [(await log.bounds(Topic.fleetGovernance))[0]?.low ?? 0, await endOfHalts(log)];
    await readBack(Topic.fleetGovernance, 0, { low, high }, now() - LONGEST_TTL_MS, state.halts.isKnown);
    readTo.set(HALTS, Math.max(high, readTo.get(HALTS) ?? 0));
  };
  const readLastHour = async (topic: TopicName): Promise<void> => {
    const [bounds, stableEnds] = [await log.bounds(topic), await log.stableEnds(topic)];
    const reading = stableEnds.map((high, partition) =>
      readBack(topic, partition, { low: bounds[partition]?.low ?? 0, high }, now() - RECENT_MS, () => false),
    );
    await Promise.all(reading);
  };
  await Promise.all([
    readHalts(),
    ...readWhole.map((topic) => readUpTo(topic, () => 0)),
    ...readRecent.map(readLastHour),
  ]);
  return {
    ready,
    orders: oneAtATime(() =>
      within(
        ORDERS_MS,
        readUpTo(Topic.agentOrder, (place) => readTo.get(place) ?? 0),
        'reading the orders',
      ),
    ),
    halts: async () => (await isFollowed(log, now, () => readTo.get(HALTS) ?? 0)) && !areHaltsWaiting(reader),
    finished,
  };
};

/** Whether a record that may announce a halt waits for the registry. */
const areHaltsWaiting = ({ waiting }: WaitingReader): boolean =>
  waiting.some(({ topic }) => topic === Topic.fleetGovernance);

/**
 * The last record is followed by the mark of its transaction, which is not read. This opens no consumer, because it
 * runs for every answer with orders.
 */
const isFollowed = async (log: Log, now: () => number, readTo: () => number): Promise<boolean> => {
  try {
    const end = await endOfHalts(log);
    const until = now() + LAG_MS;
    while (readTo() < end - 1 && now() < until) await setTimeout(LOOK_MS);
    return readTo() >= end - 1;
  } catch {
    return false;
  }
};

const endOfHalts = async (log: Log): Promise<number> => (await log.stableEnds(Topic.fleetGovernance))[0] ?? 0;

const placeOf = ({ topic, partition }: Pick<LogRecord, 'topic' | 'partition'>): string => `${topic}/${partition}`;

const HALTS = placeOf({ topic: Topic.fleetGovernance, partition: 0 });

const apply = async (
  reader: WaitingReader,
  state: State,
  record: LogRecord,
  { logger, count }: TailDeps,
): Promise<void> => {
  if (!isEvent(record)) return;
  try {
    const event = await reader.read(record);
    if (event !== null) observe(state, event as Tailed, record);
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error;
    if (error instanceof NewerEvent) return count('newer_events', 1, { processor: 'gateway' });
    const { topic, partition, offset } = record;
    logger.warn({ err: error, topic, partition, offset }, 'a record that cannot be read is skipped');
  }
};

/** However many ask at once, one reading is under way and one waits: it begins after all of them have asked. */
export const oneAtATime = (read: CatchUp): CatchUp => {
  let underWay: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | null = null;

  return () => {
    waiting ??= underWay
      .catch(() => {})
      .then(() => {
        waiting = null;
        underWay = read();
        return underWay;
      });
    return waiting;
  };
};
