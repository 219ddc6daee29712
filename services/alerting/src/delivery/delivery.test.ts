import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { DeadLetter, Retry } from '@vigil/stream';
import { expect, test } from 'vitest';
import type { Notify } from '../notices/notice.ts';
import { retryAfter } from '../sinks/http.ts';
import { counted } from './deliveries.ts';
import { backOff, deliver, deliveryOf } from './delivery.ts';
import type { NewestAlerts } from './newest-alerts.ts';
import { type AlertEvent, deliveringTo, TryLater, Undeliverable } from './sink.ts';

const alert = example(Topic.alert, 'ALERT_RAISED', { deliverAt: 1000, sinks: ['pager'] });

/** Without a question. */
const QUIET_ALERT = example(Topic.alert, 'ALERT_RAISED', {
  ...{ deliverAt: 1000, sinks: ['pager'], options: [], requestId: null, deadlineAt: null },
});
const NOTHING_LATER = { pause: async () => {}, newest: { after: () => null } };

/** A sink that answers as its script sets: with an error, or with nothing. */
const pager = (already: readonly string[] = []) => {
  const delivered: AlertEvent[] = [];
  const reported: Notify[] = [];
  const script: { error: Error | null; now: number; later: AlertEvent | null } = {
    error: null,
    now: 2000,
    later: null,
  };
  const deliverAlert = async (alertEvent: AlertEvent) => {
    if (script.error !== null) throw script.error;
    delivered.push(alertEvent);
  };
  const report = async (notices: readonly Notify[]) => reported.push(...notices);
  const pause = async (ms: number) => {
    script.now += ms;
  };
  const newest: NewestAlerts = { after: () => script.later };
  const deps = { now: () => script.now, random: () => 0, pause, newest, report, delivered: new Set(already) };
  return { delivered, reported, script, deps, react: deliver(deliveringTo('pager', deliverAlert), deps) };
};
const failing = async (react: ReturnType<typeof pager>['react'], times: number): Promise<(number | null)[]> => {
  const waits: (number | null)[] = [];
  for (let n = 0; n < times; n += 1) {
    const error = await react(alert).catch((why: unknown) => why);
    expect(error).toBeInstanceOf(Retry);
    waits.push((error as Retry).afterMs);
  }
  return waits;
};

test("a sink receives the events that are addressed to it, under the event's id, and no others", async () => {
  const { react, delivered } = pager();
  const [outcome] = await react(alert);
  expect(outcome).toMatchObject({
    type: 'ALERT_DELIVERED',
    key: alert.payload.alertKey,
    payload: { ofEventId: alert.eventId, alertId: 'alert-1', sink: 'pager', attempt: 1, ok: true },
  });
  expect(await react(example(Topic.alert, 'ALERT_UPDATED', { deliverAt: null, sinks: ['pager'] }))).toEqual([]);
  expect(await react(example(Topic.alert, 'ALERT_RAISED', { deliverAt: 5, sinks: ['console'] }))).toEqual([]);
  expect(await react(example(Topic.alert, 'ALERT_DELIVERED'))).toEqual([]);
  expect(delivered.map(({ eventId }) => eventId)).toEqual([alert.eventId]);
});

test('a pause that a sink requests holds for all its messages, which then come a second apart', async () => {
  const { react, delivered, script } = pager();
  const other = (eventId: string) => ({ ...alert, eventId, payload: { ...alert.payload, alertId: eventId } });
  const wait = (eventId: string) => react(other(eventId)).catch(({ afterMs }: Retry) => afterMs);
  script.error = new TryLater('429', 10_000);
  // Two were on their way when the sink asked for the pause.
  const both = ['first', 'second'].map(wait);
  expect(await Promise.all(both)).toEqual([10_000, 11_000]);
  script.error = null;
  script.now += 1;
  expect(await wait('third')).toBe(11_999);
  expect(delivered).toEqual([]);
  script.now += 9999;
  await react(other('first'));
  expect(await wait('second')).toBe(1000);
  expect(await wait('fourth')).toBe(3000);
  script.now += 1000;
  await react(other('second'));
  script.now += 2000;
  await react(other('third'));
  await react(other('fourth'));
  script.now += 1;
  await react(other('fifth'));
  expect(delivered.map(({ eventId }) => eventId)).toEqual(['first', 'second', 'third', 'fourth', 'fifth']);
});

test('two changes of an alert in one moment are one message, whichever came first to the sink', async () => {
  const { react, delivered, script } = pager();
  script.now = 1000;
  const next = example(Topic.alert, 'ALERT_UPDATED', { deliverAt: 1020, sinks: ['pager'], isQuiet: false });
  script.later = { ...next, eventId: 'next' };
  expect(await react(QUIET_ALERT)).toEqual([]);
  script.later = null;
  await react({ ...next, eventId: 'next' });
  expect(delivered.map(({ eventId }) => eventId)).toEqual(['next']);
});

test('the first message of an alert to a sink is its beginning, also after a group wait, and the next is an update', async () => {
  const { react, delivered } = pager();
  const changed = { deliverAt: 1020, sinks: ['pager', 'chat'], isQuiet: false };
  await react(example(Topic.alert, 'ALERT_UPDATED', { ...changed, firstFor: ['pager'] }));
  await react({ ...example(Topic.alert, 'ALERT_UPDATED', { ...changed, firstFor: ['chat'] }), eventId: 'next' });
  expect(delivered.map(({ type }) => type)).toEqual(['ALERT_RAISED', 'ALERT_UPDATED']);
  expect(delivered[0]?.payload).not.toHaveProperty('isQuiet');
});

test('a beginning that is joined with the next change is still the beginning', async () => {
  const { react, delivered, script } = pager();
  script.now = 1000;
  const changed = { deliverAt: 1020, sinks: ['pager'], isQuiet: false, firstFor: [] };
  const next = { ...example(Topic.alert, 'ALERT_UPDATED', changed), eventId: 'next' };
  script.later = next;
  await react(QUIET_ALERT);
  script.later = null;
  await react(next);
  await react({ ...next, eventId: 'third' });
  expect(delivered.map(({ type, eventId }) => [type, eventId])).toEqual([
    ['ALERT_RAISED', 'next'],
    ['ALERT_UPDATED', 'third'],
  ]);
});

test('a message waits half a second for another change, and a question with a deadline does not', async () => {
  const { react, delivered, script } = pager();
  script.now = 1000;
  await react(alert);
  expect([delivered.length, script.now]).toEqual([1, 1000]);
  await react(QUIET_ALERT);
  expect([delivered.length, script.now]).toEqual([2, 1500]);
});

test('a change that only removes a question joins nothing, because it notifies no person', async () => {
  const { deps, script } = pager();
  const sent: string[] = [];
  const sink = { ...deliveringTo('pager', async ({ type }) => void sent.push(type)), updatesInPlace: true };
  script.later = example(Topic.alert, 'ALERT_UPDATED', { isQuiet: true, deliverAt: 1020, sinks: ['pager'] });
  await deliver(sink, deps)(QUIET_ALERT);
  expect(sent).toEqual(['ALERT_RAISED']);
});

test.each([
  ['another sink', { deliverAt: 1020, sinks: ['console'] }],
  ['no sink', { deliverAt: null, sinks: ['pager'] }],
  ['a sink half a second later', { deliverAt: 1500, sinks: ['pager'] }],
])('a later change for %s joins nothing', async (_, fields) => {
  const { react, delivered, script } = pager();
  script.later = example(Topic.alert, 'ALERT_UPDATED', { isQuiet: false, ...fields });
  await react(QUIET_ALERT);
  expect(delivered).toHaveLength(1);
});

test('an alert that is over within a moment is sent, and then its end', async () => {
  const { react, delivered, script } = pager();
  const over = example(Topic.alert, 'ALERT_RESOLVED', { deliverAt: 1001, sinks: ['pager'] });
  script.later = over;
  await react(QUIET_ALERT);
  await react(over);
  expect(delivered.map(({ type }) => type)).toEqual(['ALERT_RAISED', 'ALERT_RESOLVED']);
});

test('a question that is answered while its message waited has no choices any more', async () => {
  const { react, delivered, script } = pager();
  const question = {
    options: ['allow', 'deny'],
    requestId: 'r-1',
    deadlineAt: 9000,
    deliverAt: 1000,
    sinks: ['pager'],
  };
  const asked = example(Topic.alert, 'ALERT_RAISED', question);
  script.later = example(Topic.alert, 'ALERT_UPDATED', { ...question, deliverAt: 5000, isQuiet: false });
  await react(asked);
  script.later = example(Topic.alert, 'ALERT_RESOLVED', { deliverAt: 5000, sinks: ['pager'] });
  await react(asked);
  const shown = delivered.map(({ payload }) => ('options' in payload ? payload.options : null));
  expect(shown).toEqual([['allow', 'deny'], []]);
  expect(delivered[1]?.payload).toMatchObject({ requestId: null, deadlineAt: null });
});

test('a failure without a pause delays its own message only', async () => {
  const { react, delivered, script } = pager();
  script.error = new TryLater('503');
  await expect(react(alert)).rejects.toBeInstanceOf(Retry);
  script.error = null;
  await react({ ...alert, eventId: 'other' });
  expect(delivered.map(({ eventId }) => eventId)).toEqual(['other']);
});

test('a quiet update is for the sinks that update in place, and no others', async () => {
  for (const updatesInPlace of [false, true]) {
    const { deps } = pager();
    const sent: string[] = [];
    const sink = { ...deliveringTo('pager', async ({ eventId }) => void sent.push(eventId)), updatesInPlace };
    const quiet = example(Topic.alert, 'ALERT_UPDATED', { deliverAt: 1000, sinks: ['pager'], isQuiet: true });
    await deliver(sink, deps)(quiet);
    expect(sent).toHaveLength(updatesInPlace ? 1 : 0);
  }
});

test('an event from before there were channels goes to the console', async () => {
  const { react, delivered } = pager();
  await react(example(Topic.alert, 'ALERT_RAISED', { deliverAt: 5, sinks: [] }));
  expect(delivered).toEqual([]);
});

test('an alert that was delivered before a restart is not sent again; a later one under the same id is', async () => {
  const { react, delivered } = pager([deliveryOf('pager', alert.eventId)]);
  expect(await react(alert)).toEqual([]);
  expect(delivered).toEqual([]);
});

test("an alert that is a day old when it is first read is not sent: it may have been, before the group's position was lost", async () => {
  const day = 24 * 3_600_000;
  const { react, delivered, script } = pager();
  script.now = 1000 + day + 1;
  await expect(react(alert)).rejects.toMatchObject({ name: 'DeadLetter', reason: 'too_old' });
  expect(delivered).toEqual([]);
  script.now = 1000 + day;
  const [outcome] = await react(alert);
  expect(outcome).toMatchObject({ type: 'ALERT_DELIVERED' });
});

test('a failing sink is retried with growing pauses, and people are notified at the third failure, once', async () => {
  const { react, reported, script } = pager();
  script.error = new TryLater('away');
  expect(await failing(react, 2)).toEqual([1000, 2000]);
  expect(reported).toEqual([]);
  await failing(react, 4);
  expect(reported).toMatchObject([
    { key: 'sink_failing:fleet:pager', payload: { action: 'raise', labels: { sink: 'pager' }, severity: 'critical' } },
  ]);
  script.error = null;
  expect(await react(alert)).toMatchObject([
    { type: 'ALERT_DELIVERED', payload: { attempt: 7 } },
    { type: 'NOTIFY', payload: { action: 'resolve', alertKey: 'sink_failing:fleet:pager' } },
  ]);
  expect(await react({ ...alert, eventId: 'next' })).toMatchObject([{ type: 'ALERT_DELIVERED' }]);
});

test('an outage in which many alerts fail once each counts as one failure, and the third round notifies once', async () => {
  const { react, reported, script } = pager();
  script.error = new TryLater('away');
  const many = ['a', 'b', 'c', 'd', 'e'].map((eventId) => ({ ...alert, eventId }));
  const round = async () => {
    const failed = await Promise.allSettled(many.map(react));
    return failed.map((one) => one.status === 'rejected' && (one.reason as Retry).afterMs);
  };
  expect(await round()).toEqual([1000, 1000, 1000, 1000, 1000]);
  expect(await round()).toEqual([2000, 2000, 2000, 2000, 2000]);
  expect(reported).toEqual([]);
  await round();
  await round();
  expect(new Set(reported.map(({ key }) => key))).toEqual(new Set(['sink_failing:fleet:pager']));
  expect(new Set(reported.map(({ payload }) => payload.title)).size).toBe(1);
});

test('a sink that takes an alert starts again; who comes to one that is known to be away waits as long as the others', async () => {
  const { react, reported, script } = pager();
  script.error = new TryLater('away');
  await failing(react, 2);
  const error = await react({ ...alert, eventId: 'next' }).catch((why: unknown) => why);
  expect(error).toMatchObject({ afterMs: 2000 });
  script.error = null;
  await react(alert);
  script.error = new TryLater('away');
  await failing(react, 2);
  expect(reported).toEqual([]);
});

test('that a sink fails is sent again where it could not be written', async () => {
  const script: { broker: Error | null; reported: Notify[] } = { broker: new Retry('away'), reported: [] };
  const report = async (notices: readonly Notify[]) => {
    if (script.broker !== null) throw script.broker;
    script.reported.push(...notices);
  };
  const deliverAlert = () => Promise.reject(new TryLater('away'));
  const react = deliver(deliveringTo('pager', deliverAlert), {
    now: () => 2000,
    random: () => 0,
    ...NOTHING_LATER,
    report,
    delivered: new Set(),
  });
  await failing(react, 4);
  script.broker = null;
  await failing(react, 2);
  expect(script.reported).toHaveLength(1);
});

test('a sink that requests a pause is not retried before its end', async () => {
  const { react, script } = pager();
  script.error = new TryLater('busy', 90_000);
  expect(await failing(react, 1)).toEqual([90_000]);
});

test('a permanent refusal is a dead letter at once, and people are notified', async () => {
  const { react, reported, script } = pager();
  script.error = new Undeliverable('answered 404: correct the address');
  await expect(react(alert)).rejects.toThrow(DeadLetter);
  expect(reported).toMatchObject([{ payload: { action: 'raise', text: 'answered 404: correct the address' } }]);
});

test('a sink that has refused the first message of an alert gets neither its acknowledgement nor its end', async () => {
  const { react, delivered, script } = pager();
  const of = { alertId: alert.payload.alertId, deliverAt: 5, sinks: ['pager'] };
  script.error = new Undeliverable('answered 400');
  await expect(react(alert)).rejects.toThrow(DeadLetter);
  script.error = null;
  expect(await react(example(Topic.alert, 'ALERT_UPDATED', { ...of, firstFor: [], isQuiet: true }))).toEqual([]);
  expect(await react(example(Topic.alert, 'ALERT_RESOLVED', of))).toEqual([]);
  expect(delivered).toEqual([]);
});

test('what the sink accepts next is the beginning, and then its end follows', async () => {
  const { react, delivered, script } = pager();
  const of = { alertId: alert.payload.alertId, deliverAt: 5, sinks: ['pager'] };
  script.error = new Undeliverable('answered 400');
  await expect(react(alert)).rejects.toThrow(DeadLetter);
  script.error = null;
  await react(example(Topic.alert, 'ALERT_UPDATED', { ...of, firstFor: [], isQuiet: false }));
  await react(example(Topic.alert, 'ALERT_RESOLVED', of));
  expect(delivered.map(({ type }) => type)).toEqual(['ALERT_RAISED', 'ALERT_RESOLVED']);
});

test('a refused change of an alert that the sink has accepted keeps its end from no sink', async () => {
  const { react, delivered, script } = pager();
  const of = { alertId: alert.payload.alertId, deliverAt: 5, sinks: ['pager'] };
  await react(alert);
  script.error = new Undeliverable('answered 400');
  const change = example(Topic.alert, 'ALERT_UPDATED', { ...of, firstFor: [], isQuiet: false });
  await expect(react(change)).rejects.toThrow(DeadLetter);
  script.error = null;
  await react(example(Topic.alert, 'ALERT_RESOLVED', of));
  expect(delivered.map(({ type }) => type)).toEqual(['ALERT_RAISED', 'ALERT_RESOLVED']);
});

test('no alert is given up within a day, however often it fails; after it, not before the fifth attempt', async () => {
  const { react, script } = pager();
  script.error = new Error('anything');
  script.now = 1000 + 24 * 3_600_000;
  await failing(react, 20);
  const late = pager();
  late.script.error = script.error;
  await failing(late.react, 1);
  late.script.now = script.now + 1;
  await failing(late.react, 3);
  await expect(late.react(alert)).rejects.toThrow(DeadLetter);
});

test('waits double to five minutes, and no two sinks come back at once', () => {
  expect([1, 2, 3, 9, 10, 50].map((failures) => backOff(failures, () => 0))).toEqual([
    1000, 2000, 4000, 256_000, 300_000, 300_000,
  ]);
  expect(backOff(3, () => 0.5)).toBe(3000);
});

test('Retry-After is seconds or a date, and an hour at most', () => {
  const now = Date.parse('2026-11-22T12:00:00Z');
  expect(retryAfter('120', now)).toBe(120_000);
  expect(retryAfter('Sun, 22 Nov 2026 12:01:00 GMT', now)).toBe(60_000);
  expect(retryAfter('Sun, 22 Nov 2026 11:00:00 GMT', now)).toBe(0);
  expect(retryAfter('999999', now)).toBe(3_600_000);
  expect(retryAfter('soon', now)).toBeNull();
  expect(retryAfter(null, now)).toBeNull();
});

test('each attempt of a channel is counted: delivered, retried or refused; an alert for another channel does not count', async () => {
  const lines: string[] = [];
  const { react, script } = pager();
  const counting = counted('pager', react, (_name, by, labels) => lines.push(`${by} ${Object.values(labels)}`));
  await counting(example(Topic.alert, 'ALERT_RAISED', { deliverAt: 5, sinks: ['console'] }));
  script.error = new TryLater('503', null);
  await expect(counting(alert)).rejects.toThrow(Retry);
  script.error = new Undeliverable('400');
  await expect(counting(alert)).rejects.toThrow(DeadLetter);
  script.error = null;
  await counting(alert);
  expect(lines).toEqual(['1 pager,retried', '1 pager,refused', '1 pager,delivered']);
});

test('an acknowledgement goes to the sinks that received the alert and have such a state, and is retried like an alert', async () => {
  const acknowledged = example(Topic.alert, 'ALERT_ACKNOWLEDGED', { deliverAt: 1000, sinks: ['pager'] });
  const taken: string[] = [];
  let isAway = true;
  const acknowledge = async ({ eventId }: { readonly eventId: string }) => {
    if (isAway) throw new TryLater('away');
    taken.push(eventId);
  };
  const deps = {
    now: () => 2000,
    random: () => 0,
    ...NOTHING_LATER,
    report: async () => [],
    delivered: new Set<string>(),
  };
  const react = deliver({ ...deliveringTo('pager', async () => {}), acknowledge }, deps);
  await expect(react(acknowledged)).rejects.toBeInstanceOf(Retry);
  isAway = false;
  expect(await react(acknowledged)).toMatchObject([{ type: 'ALERT_DELIVERED', payload: { sink: 'pager' } }, {}]);
  expect(taken).toEqual([acknowledged.eventId]);
  const others = [
    example(Topic.alert, 'ALERT_ACKNOWLEDGED', { deliverAt: null, sinks: ['pager'] }),
    example(Topic.alert, 'ALERT_ACKNOWLEDGED', { deliverAt: 1000, sinks: ['console'] }),
  ];
  for (const other of others) expect(await react(other)).toEqual([]);
  expect(
    await deliver(
      deliveringTo('pager', async () => {}),
      deps,
    )(acknowledged),
  ).toEqual([]);
});
