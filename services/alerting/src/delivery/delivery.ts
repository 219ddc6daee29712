import type { Draft, EventOf, Topic } from '@vigil/events';
import { DeadLetter, Retry } from '@vigil/stream';
import { hasDeadline, questionOf } from '../alert/content.ts';
import { CONSOLE } from '../alert/routing.ts';
import { type Noticed, type Notify, notify } from '../notices/notice.ts';
import { noPolicies } from '../notices/policy-alerts.ts';
import { plainEvent } from './message.ts';
import type { NewestAlerts } from './newest-alerts.ts';
import { type Acknowledged, type AlertEvent, isQuiet, type Sink, TryLater, Undeliverable } from './sink.ts';
import { sinkHealth } from './sink-health.ts';

type Alert = EventOf<typeof Topic.alert>;
type Outcome = Draft<typeof Topic.alert | typeof Topic.notify>;

/**
 * An alert that was not delivered for so long becomes a dead letter, from which it can be sent again. So does one
 * that is as old when it is first read. The broker forgets a group's position a week after its last commit, and the
 * reactor then starts with the first alert of the topic.
 */
const GIVE_UP_MS = 24 * 3_600_000;
const LEAST_TRIES = 5;

export type DeliveryDeps = {
  /** epoch milliseconds */
  readonly now: () => number;
  readonly random: () => number;
  /** writes what cannot wait for an outcome */
  readonly report: (notices: readonly Notify[]) => Promise<unknown>;
  readonly pause: (ms: number) => Promise<void>;
  readonly newest: NewestAlerts;
  /** deliveries from before a restart whose position had not been written: `deliveryOf` each */
  readonly delivered: Set<string>;
};

export const deliveryOf = (sink: string, eventId: string): string => `${sink} ${eventId}`;

/** What a sink gets now. `deliverAt`: since when. */
type Due = {
  readonly event: AlertEvent | Acknowledged;
  readonly deliverAt: number;
  /** `isFirst`: the sink has had no message of the alert */
  readonly run: (newest: NewestAlerts, isFirst: boolean) => Promise<void>;
};

const isAlertEvent = (event: Due['event']): event is AlertEvent => event.type !== 'ALERT_ACKNOWLEDGED';

/** Null: the event notifies this sink of nothing. */
const dueFor = (sink: Sink, event: Alert): Due | null => {
  switch (event.type) {
    case 'ALERT_RAISED':
    case 'ALERT_UPDATED':
    case 'ALERT_RESOLVED': {
      const { deliverAt } = event.payload;
      return deliverAt === null || !isFor(sink.name, event) || (isQuiet(event) && !sink.updatesInPlace)
        ? null
        : {
            event,
            deliverAt,
            run: ({ after }, isFirst) =>
              sink.deliver(plainEvent(withoutOldQuestion(isFirst ? asBeginning(event) : event, after(event)))),
          };
    }
    case 'ALERT_ACKNOWLEDGED': {
      const { deliverAt, sinks } = event.payload;
      const { acknowledge } = sink;
      return acknowledge === null || deliverAt === null || !sinks.includes(sink.name)
        ? null
        : { event, deliverAt, run: () => acknowledge(event) };
    }
    case 'ALERT_DELIVERED':
    case 'SILENCE_CHANGED':
    case 'QUEEN_INTERVENTION_REQUESTED':
    case 'TICKET_DISMISSED':
    case 'TICKET_ASSESSED':
      return null;
  }
};

/** What a channel gets first is the beginning of the alert, also where the group wait has gathered several changes. */
const asBeginning = (event: AlertEvent): AlertEvent => {
  if (event.type !== 'ALERT_UPDATED') return event;
  const { firstFor: _, isQuiet: __, ...payload } = event.payload;
  return { ...event, type: 'ALERT_RAISED', payload };
};

/** An alert from before there were channels is for the console. */
const isFor = (sink: string, { payload: { sinks } }: AlertEvent): boolean =>
  sinks.length === 0 ? sink === CONSOLE : sinks.includes(sink);

/** Changes of an alert that are this close together, milliseconds, are one message of a sink. */
const JOINED_MS = 500;
/** How often a message looks whether another change of its alert has come, milliseconds. */
const LOOK_MS = 25;

/** Whether a later event of the same alert has all that this one has, and notifies the same sink. */
const isJoined = (sink: Sink, event: AlertEvent, later: AlertEvent | null): boolean => {
  if (later === null || later.type === 'ALERT_RESOLVED' || isQuiet(later)) return false;
  const due = dueFor(sink, later);
  return due !== null && due.deliverAt - (event.payload.deliverAt ?? 0) < JOINED_MS;
};

/** A person or an agent waits for the answer. */
const isHurried = ({ payload }: AlertEvent): boolean =>
  'options' in payload && (payload.requestId !== null || hasDeadline(payload));

/**
 * Waits a moment for another change of the alert. True: one has come, and the message of that one has both. What is
 * decided from one moment is so one message, also without a group wait.
 */
const joins = async (sink: Sink, event: AlertEvent, deps: DeliveryDeps): Promise<boolean> => {
  const { deliverAt } = event.payload;
  const isWaiting = event.type !== 'ALERT_RESOLVED' && !isHurried(event);
  const rest = Math.min((deliverAt ?? 0) + JOINED_MS - deps.now(), JOINED_MS);
  for (let waited = 0; ; waited += LOOK_MS) {
    if (isJoined(sink, event, deps.newest.after(event))) return true;
    if (!isWaiting || waited >= rest) return false;
    await deps.pause(LOOK_MS);
  }
};

/** The event as its alert is now: a question that is over has no choices any more. */
const withoutOldQuestion = (event: AlertEvent, later: AlertEvent | null): AlertEvent => {
  if (event.type === 'ALERT_RESOLVED' || later === null) return event;
  const { payload } = event;
  const asked = later.type === 'ALERT_RESOLVED' ? null : questionOf(later.payload);
  if (questionOf(payload) === null || questionOf(payload) === asked) return event;
  const over = {
    options: [],
    questions: [],
    requestId: null,
    itemId: null,
    askedAt: null,
    deadlineAt: null,
    onTimeout: null,
  };
  return event.type === 'ALERT_RAISED'
    ? { ...event, payload: { ...payload, ...over } }
    : { ...event, payload: { ...event.payload, ...over } };
};

/** Messages that wait for the end of a limit are this far apart, milliseconds: Slack takes one a second. */
const APART_MS = 1000;

/**
 * The pause that a sink has requested. It holds for all messages of the sink, as the sink limits its caller. Each that
 * meets it has a time of its own after its end.
 */
class Limit {
  readonly #times = new Map<string, number>();
  #until = 0;
  #newest = Number.NEGATIVE_INFINITY;

  set(until: number): void {
    this.#until = Math.max(this.#until, until);
  }

  /** How long a message waits, milliseconds; 0: it is sent now. */
  wait(eventId: string, now: number): number {
    const known = this.#times.get(eventId);
    if (known !== undefined && known >= this.#until) return Math.max(0, known - now);
    if (known === undefined && now >= this.#until && now > this.#newest) return 0;
    const time = Math.max(this.#until, this.#newest + APART_MS);
    this.#newest = time;
    this.#times.set(eventId, time);
    return Math.max(0, time - now);
  }

  over(eventId: string): void {
    this.#times.delete(eventId);
  }
}

/** Delivers to one sink, and reports the outcome. Rejects with Retry, and after how long, or with DeadLetter. */
export const deliver = (sink: Sink, deps: DeliveryDeps): ((event: Alert) => Promise<readonly Outcome[]>) => {
  const health = sinkHealth(sink.name);
  const tries = new Map<string, number>();
  const limit = new Limit();
  /** alerts whose first message has been left to a later one */
  const begun = new Set<string>();
  /** alerts whose first message the sink has refused, and without an accepted one since */
  const refused = new Set<string>();
  const isFirst = ({ type, payload }: Due['event']): boolean =>
    type === 'ALERT_RAISED' ||
    (type === 'ALERT_UPDATED' &&
      (payload.firstFor.includes(sink.name) || begun.has(payload.alertId) || refused.has(payload.alertId)));
  /** A sink that has never accepted the alert gets neither its end nor its acknowledgement, nor that its question is over. */
  const isForNothing = (event: Due['event']): boolean => {
    const { alertId } = event.payload;
    if (event.type === 'ALERT_RESOLVED') return refused.delete(alertId);
    return refused.has(alertId) && (event.type === 'ALERT_ACKNOWLEDGED' || isQuiet(event));
  };
  const report = (notices: readonly Noticed[]) => deps.report(drafts(notices)).then(health.reported);
  return async (event) => {
    const due = dueFor(sink, event);
    if (due === null) return [];
    if (deps.delivered.delete(deliveryOf(sink.name, event.eventId))) return [];
    const ageMs = deps.now() - due.deliverAt;
    if (ageMs > GIVE_UP_MS && !tries.has(event.eventId))
      throw new DeadLetter(
        'too_old',
        `${sink.name}: it was due ${Math.round(ageMs / 3_600_000)} h ago: people are not paged for history`,
      );
    const { alertId } = due.event.payload;
    if (isForNothing(due.event)) return [];
    if (isAlertEvent(due.event) && (await joins(sink, due.event, deps))) {
      if (isFirst(due.event)) begun.add(alertId);
      return [];
    }
    const limited = limit.wait(event.eventId, deps.now());
    if (limited > 0) throw new Retry(`${sink.name}: waits for the end of its limit`, { afterMs: limited });
    const attempt = (tries.get(event.eventId) ?? 0) + 1;
    tries.set(event.eventId, attempt);
    const error = await due.run(deps.newest, isFirst(due.event)).then(
      () => null,
      (why: Error) => why,
    );
    if (error === null) {
      begun.delete(alertId);
      refused.delete(alertId);
      tries.delete(event.eventId);
      limit.over(event.eventId);
      return [delivered(sink.name, due.event, attempt), ...drafts(health.succeeded())];
    }
    const isOver = ageMs > GIVE_UP_MS && attempt >= LEAST_TRIES;
    if (error instanceof Undeliverable || isOver) {
      tries.delete(event.eventId);
      limit.over(event.eventId);
      // One that is given up may have been accepted without an answer, so its end is sent all the same.
      if (error instanceof Undeliverable && isFirst(due.event)) refused.add(alertId);
      await report(health.refused(event.eventId, error.message));
      throw new DeadLetter(isOver ? 'given_up' : 'refused_by_sink', `${sink.name}: ${error.message}`);
    }
    if (error instanceof TryLater && error.afterMs !== null) limit.set(deps.now() + error.afterMs);
    const { rounds, notices } = health.failed(event.eventId, error.message);
    if (notices.length > 0) await report(notices);
    const afterMs = waitOf(error, Math.max(rounds, attempt), deps);
    const isLimit = error instanceof TryLater && error.afterMs !== null;
    throw new Retry(`${sink.name}: ${error.message}`, {
      afterMs: isLimit ? Math.max(afterMs, limit.wait(event.eventId, deps.now())) : afterMs,
    });
  };
};

const FIRST_MS = 1000;
const LONGEST_MS = 300_000;

/** Milliseconds to wait after this number of failures (1: the first): doubling to five minutes, minus a random half. */
export const backOff = (failures: number, random: () => number): number =>
  Math.round(Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS) * (1 - random() / 2));

const waitOf = (error: Error, failures: number, { random }: DeliveryDeps): number =>
  Math.max(backOff(failures, random), error instanceof TryLater ? (error.afterMs ?? 0) : 0);

const drafts = (notices: readonly Noticed[]): readonly Notify[] => notices.map((one) => notify(one, null, noPolicies));

const delivered = (sink: string, { payload, eventId }: Due['event'], attempt: number): Draft<typeof Topic.alert> => {
  const { alertKey, alertId } = payload;
  const outcome = { alertKey, alertId, ofEventId: eventId, sink, attempt, ok: true, detail: null };
  return { topic: 'onex.evt.alerting.alert.v1', type: 'ALERT_DELIVERED', key: alertKey, payload: outcome };
};
