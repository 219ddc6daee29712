import type { Draft, EventOf, Topic } from '@vigil/events';
import { DeadLetter, Retry } from '@vigil/stream';
import { CONSOLE } from '../alert/routing.ts';
import { type Noticed, type Notify, notify } from '../notices/notice.ts';
import { noPolicies } from '../notices/policy-alerts.ts';
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
  /** deliveries from before a restart whose position had not been written: `deliveryOf` each */
  readonly delivered: Set<string>;
};

export const deliveryOf = (sink: string, eventId: string): string => `${sink} ${eventId}`;

/** What a sink gets now. `deliverAt`: since when. */
type Due = { readonly event: AlertEvent | Acknowledged; readonly deliverAt: number; readonly run: () => Promise<void> };

/** Null: the event notifies this sink of nothing. */
const dueFor = (sink: Sink, event: Alert): Due | null => {
  switch (event.type) {
    case 'ALERT_RAISED':
    case 'ALERT_UPDATED':
    case 'ALERT_RESOLVED': {
      const { deliverAt } = event.payload;
      return deliverAt === null || !isFor(sink.name, event) || (isQuiet(event) && !sink.updatesInPlace)
        ? null
        : { event, deliverAt, run: () => sink.deliver(event) };
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

/** An alert from before there were channels is for the console. */
const isFor = (sink: string, { payload: { sinks } }: AlertEvent): boolean =>
  sinks.length === 0 ? sink === CONSOLE : sinks.includes(sink);

/** Messages that wait for the end of a limit are this far apart, milliseconds: Slack takes one a second. */
const APART_MS = 1000;

/** The pause that a sink has requested. It holds for all messages of the sink, as the sink limits its caller. */
class Limit {
  #until = 0;
  #newest = 0;

  set(until: number): void {
    this.#until = Math.max(this.#until, until);
  }

  /** How long the next message waits, milliseconds; 0: it is sent now. */
  wait(now: number): number {
    if (now >= this.#until) return 0;
    this.#newest = Math.max(this.#until, this.#newest + APART_MS);
    return this.#newest - now;
  }
}

/** Delivers to one sink, and reports the outcome. Rejects with Retry, and after how long, or with DeadLetter. */
export const deliver = (sink: Sink, deps: DeliveryDeps): ((event: Alert) => Promise<readonly Outcome[]>) => {
  const health = sinkHealth(sink.name);
  const tries = new Map<string, number>();
  const limit = new Limit();
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
    const limited = limit.wait(deps.now());
    if (limited > 0) throw new Retry(`${sink.name}: waits for the end of its limit`, { afterMs: limited });
    const attempt = (tries.get(event.eventId) ?? 0) + 1;
    tries.set(event.eventId, attempt);
    const error = await due.run().then(
      () => null,
      (why: Error) => why,
    );
    if (error === null) {
      tries.delete(event.eventId);
      return [delivered(sink.name, due.event, attempt), ...drafts(health.succeeded())];
    }
    const isOver = ageMs > GIVE_UP_MS && attempt >= LEAST_TRIES;
    if (error instanceof Undeliverable || isOver) {
      tries.delete(event.eventId);
      await report(health.refused(event.eventId, error.message));
      throw new DeadLetter(isOver ? 'given_up' : 'refused_by_sink', `${sink.name}: ${error.message}`);
    }
    if (error instanceof TryLater && error.afterMs !== null) limit.set(deps.now() + error.afterMs);
    const { rounds, notices } = health.failed(event.eventId, error.message);
    if (notices.length > 0) await report(notices);
    throw new Retry(`${sink.name}: ${error.message}`, { afterMs: waitOf(error, Math.max(rounds, attempt), deps) });
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
